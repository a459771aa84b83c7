"""Every result is saved, reopened, kept, drawn and a cell's value; what is missing says how to get it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.factories import results as examples
from tests.factories.comparisons import failed, ordinary
from tests.features.profile.traces import chain
from workbench.core.bundle.bundle import pack_record, unpack_record
from workbench.core.bundle.kinds import Part
from workbench.core.errors import ConfigError, WorkbenchError
from workbench.drawing.shapes import TextLine
from workbench.drawing.template import MORE_MARK
from workbench.features.base.measured import PerRun
from workbench.features.base.registry import KINDS
from workbench.features.profile.memory.by_node import MemoryRecord, NodeMemory, memory_of

RESULTS = examples.every_kind()


@pytest.mark.parametrize("head", [b"", b"\0\0\0\0ORTM"])
def test_a_model_given_as_a_result_is_said_to_be_one(head: bytes, tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(head + chain().SerializeToString())
    with pytest.raises(WorkbenchError, match="is a model") as caught:
        wb.open(path)
    assert "wb.load" in caught.value.fix


@pytest.mark.parametrize("name", ["float32_flops", "int8_flops", "bytes_per_s"])
def test_a_peak_of_zero_is_refused(name: str) -> None:
    roofline = examples.roofline()
    for record in (
        replace(roofline, peaks=replace(roofline.peaks, **{name: 0.0})),
        replace(examples.peaks(), rows=(replace(examples.peaks().rows[0], **{name: 0.0}),)),
    ):
        with pytest.raises(WorkbenchError, match=f"{name}: expected a rate above 0"):
            pack_record(record, None, private=True, about=examples.about(), kinds=KINDS)


@pytest.mark.parametrize("name", ["baseline_s", "candidate_s"])
def test_a_time_of_zero_is_refused(name: str) -> None:
    record = replace(examples.why_slower(), **{name: 0.0})  # type: ignore[arg-type]
    with pytest.raises(WorkbenchError, match=f"{name}: expected a time above 0"):
        pack_record(record, None, private=True, about=examples.about(), kinds=KINDS)


def test_a_limit_that_is_not_known_is_said_to_be() -> None:
    roofline = examples.roofline()
    (point, *_) = wb.Roofline(roofline, examples.about()).figure().data
    assert point.customdata[0][3].endswith("of its limit, bound by compute")
    unknown = replace(roofline, nodes=(replace(roofline.nodes[0], limit_s=None, bound=None),))
    (point, *_) = wb.Roofline(unknown, examples.about()).figure().data
    assert point.customdata[0][3] == "its limit is not known"


def test_views_and_results_of_a_reopened_comparison(tmp_path: Path) -> None:
    again = wb.open(RESULTS["comparison"].save(tmp_path / "one.ortbench"))
    assert again.explanation("B").placement.to_frame().shape[0] == 2
    assert len(again.profile("A").runs_s) == 3
    assert again.graph().panes[0].title == "A, optimized"
    assert "A" in str(again.flame())
    assert set(again.fusions().to_frame().columns) == {"pattern", "into", "passes", "A", "B"}
    assert again.memory().to_frame()["label"].unique().tolist() == ["A", "B"]
    assert list(again.roofline().by_label) == ["A", "B"]
    assert [start.label for start in again.cold_start().starts] == ["A", "B"]


def test_what_is_missing_says_which_and_how_to_get_it() -> None:
    bare = wb.Comparison(ordinary())
    for ask, kind in (
        (bare.graph, "explanation"),
        (bare.fusions, "explanation"),
        (bare.flame, "profile"),
        (bare.memory, "memory"),
        (bare.roofline, "roofline"),
        (bare.cold_start, "cold start"),
    ):
        with pytest.raises(WorkbenchError, match=f"has no {kind}") as caught:
            ask()
        assert f"attach(model).examine('{kind}')" in caught.value.fix
    with pytest.raises(WorkbenchError, match="model is not at hand"):
        bare.examine("explanation")
    with pytest.raises(ConfigError, match="nothing to examine"):
        bare.examine("everything")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="there is no run 'Z'"):
        bare.explanation("Z")


def test_a_run_that_failed_has_no_parts() -> None:
    from tests.factories.comparisons import comparison, drawn_run

    result = wb.Comparison(comparison(drawn_run("A", 0.002), failed("B", "no such kernel")))
    with pytest.raises(WorkbenchError, match=r"B failed \(no such kernel\)"):
        result.explanation("B")


def test_another_model_is_not_attached(tmp_path: Path) -> None:
    path = tmp_path / "other.onnx"
    path.write_bytes(chain().SerializeToString())
    with pytest.raises(wb.ModelError, match="is not the model of this result"):
        wb.Comparison(ordinary()).attach(path)


def test_several_runs_are_one_result() -> None:
    with pytest.raises(WorkbenchError, match="no memory to show"):
        wb.Memory.of({})
    assert issubclass(wb.Memory, PerRun)


def labels_drawn(figure: Any) -> set[str]:
    return {note.text for note in figure.layout.annotations if note.name != MORE_MARK}


def remembering() -> Any:
    """Memory of a run in which everything was told."""
    nodes = tuple(NodeMemory(n, f"n{n}", "Add", 48, 64, 128, 32, 96) for n in range(3))
    return MemoryRecord(nodes, 1000, 96, 128, 256)


@pytest.mark.parametrize("kind", ["memory", "roofline"])
def test_runs_stand_side_by_side_on_the_same_axes_also_when_reopened(kind: str, tmp_path: Path) -> None:
    made = {"memory": remembering, "roofline": examples.roofline}[kind]
    parts = tuple(Part(f"{kind}/{label}", made(), examples.about()) for label in "AB")
    result = getattr(wb.Comparison(ordinary(), parts=parts), kind)()
    for shown in (result, wb.open(result.save(tmp_path / "both.ortbench"))):
        assert list(shown.by_label) == ["A", "B"]
        assert set(shown.to_frame()["label"]) == {"A", "B"}
        figure = shown.figure()
        assert labels_drawn(figure) == {"<b>A</b>", "<b>B</b>"}
        assert {trace.xaxis for trace in figure.data} == {"x", "x2"}
        assert figure.layout.yaxis2.matches == "y"
        names = [trace.name for trace in figure.data if trace.showlegend]
        assert len(names) == len(set(names)) == len(figure.data) / 2  # the legend says each once
        texts = [mark.text for mark in shown.still().shapes if isinstance(mark, TextLine)]
        assert [text for text in texts if text == "B" or text.startswith("B: ") or text.endswith("(B)")]


def test_labels_survive_where_the_baseline_failed(tmp_path: Path) -> None:
    records = {label: examples.parts()[2].record for label in ("B", "C")}
    result = wb.Memory.of(records, about=examples.about())
    again = wb.open(result.save(tmp_path / "some.ortbench"))
    assert list(again.by_label) == ["B", "C"]
    assert again.by_label == records
    assert list(wb.Memory.of({"B": records["B"]}).by_label) == ["B"]


def test_equal_runs_are_both_there() -> None:
    record = examples.parts()[2].record
    assert list(wb.Memory.of({"A": record, "B": record}).by_label) == ["A", "B"]


@pytest.mark.slow
def test_twelve_thousand_nodes_are_saved_and_opened() -> None:
    from benchmarks.graphs import explained

    result = wb.Explanation(explained(12_000), examples.about())
    blob = pack_record(result.saved, None, private=True, about=result.about, kinds=KINDS)
    assert len(blob) < 3_000_000
    again = KINDS.result(unpack_record(blob, KINDS))
    assert again.record.source.nodes == result.record.source.nodes
    assert dict(again.record.source.infos) == dict(result.record.source.infos)
    assert again.record.provenance == result.record.provenance


@pytest.mark.slow
@pytest.mark.real
def test_examine_makes_the_missing_and_keeps_it(tmp_path: Path) -> None:
    model = wb.load("digits-conv")
    result = wb.compare(model, wb.Config(level="disabled"), wb.Config(), budget_s=0.2, progress=False)
    steps: list[str] = []
    assert result.examine("explanation", "memory", on_step=steps.append) is result
    begun = [step for step in steps if " took " not in step]
    assert begun[:3] == ["A: explanation", "B: explanation", "A: preparation"], "what is quick, of all runs"
    assert len(steps) - len(begun) == 6, "each part says how long it took"
    names = {part.name for part in result.parts}
    assert names == {f"{kind}/{label}" for kind in ("explanation", "profile", "memory") for label in "AB"}
    assert {part.name for part in wb.history().open(result.record.id).parts} == names
    for label, record in result.memory().by_label.items():
        assert any(node.allocated_bytes for node in record.nodes), (
            "each node's own, without the memory pattern"
        )
        assert record.arena_peak_bytes == memory_of(result.profile(label)).arena_peak_bytes, "as configured"
    steps.clear()
    result.examine("explanation", "profile", on_step=steps.append)
    assert steps == [], "what is there is not made again"
    again = wb.open(result.save(tmp_path / "one.ortbench"))
    again.attach(model).examine("cold start")
    assert len(again.cold_start().starts) == 2
    assert again.graph().still().to_png()
    assert again.flame().still().to_png()


def test_words_of_peaks_and_starts() -> None:
    assert str(RESULTS["peaks"]) == (
        "1 thread: float32 10.0 GFLOP/s, int8 40.0 GOP/s, copying not measured; "
        "2 threads: float32 not measured, int8 not measured, copying 20.0 GB/s"
    )
    first, second = str(RESULTS["cold start"]).splitlines()
    assert first.startswith("A: 610 ms to the first answer, 410 ms with the pre-optimized graph")
    assert second.startswith("B: ")
