"""What was saved once opens for ever; what was saved by a later version is refused plainly."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.core.bundle.hostile import Members, good_members, signed, zipped
from tests.factories.records import comparison
from tests.factories.results import every_kind
from workbench.core.bundle import upgrades
from workbench.core.bundle.bundle import read_bundle, unpack_record
from workbench.core.errors import BundleError

FOLDER = Path(__file__).parent / "golden"
GOLDEN = sorted(FOLDER.glob("comparison-*.ortbench"))
OTHERS = sorted(set(FOLDER.glob("*.ortbench")) - set(GOLDEN))


def test_there_is_a_golden_bundle_of_every_version() -> None:
    assert [path.name for path in GOLDEN] == [
        f"comparison-{version}.ortbench" for version in range(1, upgrades.VERSION + 1)
    ]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.name)
def test_a_golden_bundle_opens(path: Path) -> None:
    bundle = read_bundle(path)
    assert bundle.record == comparison()
    assert bundle.structure == b"graph"
    assert bundle.version == int(path.stem.rpartition("-")[2])


@pytest.mark.usefixtures("coarse")
@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_golden_results_of_every_kind_open(path: Path) -> None:
    """Made by `python -m tests.core.bundle.golden.make`; those of a released version are never made again."""
    result = wb.open(path)
    assert str(result)
    assert result.still().to_png()
    assert len(result.to_frame())


def test_every_kind_has_a_golden_bundle() -> None:
    kinds = {path.stem.rpartition("-")[0].replace("-", " ") for path in OTHERS}
    assert {*every_kind(), "examined"} - {"comparison"} <= kinds


@pytest.mark.usefixtures("coarse")
def test_a_golden_comparison_still_has_its_parts() -> None:
    result = wb.open(FOLDER / "examined-1.ortbench")
    assert len(result.parts) == 10
    assert result.graph().still().to_png()
    assert result.flame().still().to_png()
    assert result.memory().to_frame().equals(every_kind()["comparison"].memory().to_frame())


def test_a_later_version_is_refused_whatever_it_holds() -> None:
    manifest = {"format": "ortbench", "version": 2, "unknown to us": []}
    blob = zipped({"manifest.json": json.dumps(manifest).encode(), "record.json": b"?"})
    with pytest.raises(BundleError, match="version 2; this workbench reads versions up to 1") as caught:
        unpack_record(blob)
    assert "Update ort-workbench" in caught.value.fix


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> dict[int, upgrades.Step]:
    """A future in which the record is of version 3."""
    made: dict[int, upgrades.Step] = {}
    monkeypatch.setattr(upgrades, "VERSION", 3)
    monkeypatch.setattr(upgrades, "STEPS", made)
    return made


def as_first_version() -> Members:
    """An honest bundle whose manifest says version 1."""
    return signed(good_members(), version=1)


def test_steps_are_taken_in_order(steps: dict[int, upgrades.Step]) -> None:
    def rename(kind: str, data: dict[str, Any]) -> dict[str, Any]:
        assert kind == "comparison"
        data["model"]["name"] = data["model"].pop("title")
        return data

    def decorate(_kind: str, data: dict[str, Any]) -> dict[str, Any]:
        data["model"]["name"] += ", upgraded"
        return data

    steps.update({1: rename, 2: decorate})
    members = as_first_version()
    data = json.loads(members["record.json"])
    data["model"]["title"] = data["model"].pop("name")
    bundle = unpack_record(zipped(signed({**members, "record.json": json.dumps(data).encode()})))
    assert bundle.record.model.name == f"{comparison().model.name}, upgraded"
    assert bundle.version == 1


@pytest.mark.parametrize("text", [b"[]", b"{}", b'{"model": null}', b'{"model": {"title": 3}}'])
def test_an_old_record_that_no_step_understands_is_refused(
    steps: dict[int, upgrades.Step], text: bytes
) -> None:
    def rename(_kind: str, data: dict[str, Any]) -> dict[str, Any]:
        data["model"]["name"] = data["model"].pop("title").strip()
        return data

    steps.update({1: rename, 2: rename})
    with pytest.raises(BundleError, match=r"does not fit version 1|does not hold an object"):
        unpack_record(zipped(signed({**as_first_version(), "record.json": text})))
