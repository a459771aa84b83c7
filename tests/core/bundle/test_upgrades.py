"""What was saved in this form opens; what another version saved is refused plainly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import workbench as wb
from tests.core.bundle.hostile import good_members, zipped
from tests.factories.records import comparison
from tests.factories.results import every_kind
from workbench.core.bundle.bundle import read_bundle, unpack_record
from workbench.core.bundle.member import VERSION
from workbench.core.errors import BundleError

FOLDER = Path(__file__).parent / "golden"
COMPARISON = FOLDER / f"comparison-{VERSION}.ortbench"
OTHERS = sorted(set(FOLDER.glob("*.ortbench")) - {COMPARISON})


def test_a_golden_bundle_opens() -> None:
    bundle = read_bundle(COMPARISON)
    assert bundle.record == comparison()
    assert bundle.structure == b"graph"
    assert bundle.version == VERSION


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.name)
def test_golden_results_of_every_kind_open(path: Path) -> None:
    """Made by `python -m tests.core.bundle.golden.make`; those of a released version are never made again."""
    result = wb.open(path)
    assert str(result)
    assert result.still().to_svg()
    assert len(result.to_frame())


def test_every_kind_has_a_golden_bundle() -> None:
    kinds = {path.stem.rpartition("-")[0].replace("-", " ") for path in OTHERS}
    assert {*every_kind(), "examined"} - {"comparison"} <= kinds


@pytest.mark.usefixtures("coarse")
def test_a_golden_comparison_still_has_its_parts() -> None:
    result = wb.open(FOLDER / f"examined-{VERSION}.ortbench")
    assert len(result.parts) == 10
    assert result.graph().still().to_png()
    assert result.flame().still().to_png()
    assert result.memory().to_frame().equals(every_kind()["comparison"].memory().to_frame())


@pytest.mark.parametrize(
    ("version", "fix"), [(VERSION + 1, "Update ort-workbench"), (VERSION - 1, "Measure again"), (0, "again")]
)
def test_another_version_is_refused_whatever_it_holds(version: int, fix: str, tmp_path: Path) -> None:
    manifest = {"format": "ortbench", "version": version, "unknown to us": []}
    path = tmp_path / "other.ortbench"
    path.write_bytes(zipped({"manifest.json": json.dumps(manifest).encode(), "record.json": b"?"}))
    told = rf"other\.ortbench.*version {version}; this workbench reads version {VERSION}"
    with pytest.raises(BundleError, match=told) as caught:
        wb.open(path)
    assert fix in caught.value.fix


def test_a_file_from_before_a_field_with_a_default_opens() -> None:
    members = good_members()
    data = json.loads(members["record.json"])
    for run in data["runs"]:
        del run["population"]
        for process in run["processes"]:
            del process["feeds"]
    blob = zipped({**members, "record.json": json.dumps(data).encode()})
    assert unpack_record(blob).record == comparison()
