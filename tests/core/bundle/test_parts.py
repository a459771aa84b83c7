"""Parts of a bundle: bounded, hashed and checked as the main record is."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.core.bundle.hostile import Members, signed, zipped
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from tests.factories.graphs import fused
from workbench.core.bundle import limits
from workbench.core.bundle.bundle import pack_record, unpack_record
from workbench.core.bundle.kinds import COMPARISONS, Part
from workbench.core.errors import BundleError
from workbench.core.models.graph import TensorInfo
from workbench.features.base.registry import KINDS

PARTS = examples.parts()


def members() -> Members:
    """A comparison with all parts."""
    blob = pack_record(ordinary(), b"graph", private=True, parts=PARTS, kinds=KINDS)
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


GOOD = members()


def refused(changed: Members, problem: str, **manifest: Any) -> None:
    with pytest.raises(BundleError, match=problem) as caught:
        unpack_record(zipped(signed(changed, **manifest)), KINDS)
    assert caught.value.fix


def edited(name: str, edit: Callable[[Any], None]) -> Members:
    data = json.loads(GOOD[name])
    edit(data)
    return {**GOOD, name: json.dumps(data).encode()}


def place(name: str) -> str:
    """The folder of a part."""
    listed = json.loads(GOOD["manifest.json"])["parts"]
    return f"parts/{[one['name'] for one in listed].index(name)}"


def test_the_honest_one_opens() -> None:
    found = unpack_record(zipped(GOOD), KINDS)
    assert [part.name for part in found.parts] == [part.name for part in PARTS]
    assert found.parts[0].about == PARTS[0].about
    assert found.parts[2].record == PARTS[2].record
    assert found.record == ordinary()


def test_a_reader_that_does_not_know_a_kind_says_so() -> None:
    with pytest.raises(BundleError, match="holds a 'explanation'; known: comparison"):
        unpack_record(zipped(GOOD), COMPARISONS)


def test_a_part_that_is_not_listed_or_not_there() -> None:
    refused({**GOOD, "parts/30/record.json": b"{}"}, "belongs to no record")
    gone = {name: blob for name, blob in GOOD.items() if name != f"{place('memory/A')}/record.json"}
    refused(gone, "has no parts/")


@pytest.mark.parametrize(
    "name", ["parts/x/record.json", "parts/100/record.json", "parts/0/other.json", "parts/../record.json",
             "parts/0/parts/1/record.json", "parts/0/graph/source.onnx", "parts/0/bytes.npy", "texts.json"],
)  # fmt: skip
def test_a_strange_name_of_a_member(name: str) -> None:
    refused({**GOOD, name: b"{}"}, "has a member")


def listed(**changes: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(GOOD["manifest.json"])["parts"]
    rows[0] = {**rows[0], **changes}
    return rows


def test_names_of_parts_that_mean_nothing() -> None:
    refused(GOOD, "holds a 'virus'", parts=listed(name="virus/A"))
    refused(GOOD, "of a run that is not there", parts=listed(name="explanation/Z"))
    refused(GOOD, "each name once", parts=listed(name="explanation/B"))
    refused(GOOD, "is no name of a part", parts=listed(name="explanation/" + "A" * 100))
    refused(GOOD, "is no name of a part", parts=listed(name="explanation/\x1b[2J"))
    refused(GOOD, "missing required field `about`", parts=[{"name": "memory/A"}])
    many = [{"name": f"memory/{at}", "about": None} for at in range(limits.PARTS + 1)]
    refused(GOOD, "a bundle has at most", parts=many)


def test_whose_it_is_does_not_fit() -> None:
    told = json.loads(GOOD["manifest.json"])["parts"][0]["about"]
    refused(GOOD, "about does not fit", about=told)
    blob = pack_record(fused(), None, private=True, about=examples.about(), kinds=KINDS)
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        alone = {name: archive.read(name) for name in archive.namelist()}
    refused(alone, "about does not fit", about=None)
    refused(alone, "1 to 64 printable", about={**told, "id": "\n"})


def test_a_graph_that_speaks_of_nodes_that_are_not_there() -> None:
    told = fused()
    account = told.provenance.account
    stranger = replace(account.sources[0], into=("nowhere",))
    changed = replace(
        told,
        provenance=replace(
            told.provenance, account=replace(account, sources=(stranger, *account.sources[1:]))
        ),
    )
    with pytest.raises(BundleError, match=r"into: 'nowhere' is not in its graph"):
        pack_record(changed, None, private=True, about=examples.about(), kinds=KINDS)
    lost = replace(told, placement=replace(told.placement, nodes=told.placement.nodes[1:]))
    with pytest.raises(BundleError, match="not the nodes of its graph"):
        pack_record(lost, None, private=True, about=examples.about(), kinds=KINDS)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lambda data: data["trace"].update(name=1), "expected columns of one length|is not used"),
        (lambda data: data["trace"]["names"].clear(), "stands for nothing"),
        (lambda data: data["trace"]["calls"][0].pop(), r"calls\[0\]: expected `array` of at least length 8"),
        (lambda data: data["trace"]["calls"][0].append(0), "expected `array` of at most length 8"),
        (lambda data: data.update(warmup_runs=-1), "expected zero or more"),
        (lambda data: data.update(graph=1), r"graph: expected the next of 0 values of bytes\.bin"),
        (lambda data: data["trace"].pop("tid"), "missing required field `tid`"),
    ],
)
def test_a_trace_that_does_not_hold_together(edit: Callable[[Any], None], problem: str) -> None:
    refused(edited(f"{place('profile/A')}/record.json", edit), problem)


def test_a_graph_that_is_no_model() -> None:
    record = replace(PARTS[1].record, graph=b"not a model")
    with pytest.raises(BundleError, match="graph: "):
        pack_record(record, None, private=True, about=examples.about(), kinds=KINDS)


def test_all_parts_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "JSON_ITEMS_IN_ALL", 500)
    refused(GOOD, "more than 500 values")


def test_too_many_parts_are_not_written() -> None:
    many = tuple(Part(f"memory/{at}", PARTS[2].record, None) for at in range(limits.PARTS + 1))
    with pytest.raises(BundleError, match=r"holds at most|not there"):
        pack_record(ordinary(), None, private=True, parts=many, kinds=KINDS)


def test_no_path_of_this_machine_leaves_in_a_text(tmp_path: Any) -> None:
    secret = str(tmp_path / "secret.onnx")
    told = replace(fused(), model_name=secret)
    nodes = tuple(replace(one, digest=secret) for one in told.source.nodes)
    infos = {**told.source.infos, secret: TensorInfo(1, (2, "batch"))}
    told = replace(told, source=replace(told.source, nodes=nodes, infos=infos))
    blob = pack_record(told, None, private=False, about=examples.about(), kinds=KINDS)
    with zipfile.ZipFile(io.BytesIO(blob)) as archive:
        assert all(str(tmp_path).encode() not in archive.read(name) for name in archive.namelist())
    assert unpack_record(blob, KINDS).record.source.infos["…/secret.onnx"].dims == (2, "batch")
