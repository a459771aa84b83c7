"""Graph, flame, tables and roofline of a comparison divide one time: the latency that was measured."""

from __future__ import annotations

from pathlib import Path

import pytest

import workbench as wb
from benchmarks.graphs import explained_of
from tests.factories.comparisons import ordinary
from tests.factories.results import about
from tests.features.profile.traces import chain, event, node, write
from workbench.core.bundle.kinds import Part
from workbench.core.models.graph_walk import read_graph
from workbench.features.profile.reader import read_trace
from workbench.features.profile.result import op_type_chart
from workbench.features.profile.roofline.node_limits import roofline
from workbench.features.profile.roofline.peaks import PeakRow
from workbench.features.profile.saved import record_of
from workbench.features.profile.session_profile import Overhead, SessionProfile
from workbench.features.profile.tables import BETWEEN_NODES, SCHEDULING

PEAKS = PeakRow(1, 100e9, 400e9, 10e9)
NODES = tuple(node.name for node in chain().graph.node)


def profile_of(folder: Path, spent_us: tuple[float, ...], plain_s: float | None) -> SessionProfile:
    """Return a profile in which every node takes the same time; one run may be interrupted."""
    events, now = [], 0.0
    for spent in spent_us:
        start, now = now, now + 2
        for name in NODES:
            events.append(node(name, now, spent, name.rpartition("/")[2]))
            now += spent + 1
        events.append(event("SequentialExecutor::Execute", start + 1, now - start - 1, "Session"))
        events.append(event("model_run", start, now - start + 1, "Session"))
        now += 10
    trace = read_trace(write(folder, events, name="trace.json"))
    overhead = None if plain_s is None else Overhead((plain_s,), (9.0,))
    return SessionProfile(trace, warmup_runs=0, overhead=overhead, optimized=chain())


@pytest.fixture
def compared(tmp_path: Path) -> wb.Comparison:
    """A and B with an explanation, a profile of which a run was interrupted, and a roofline of that time."""
    graph = read_graph(chain())
    result = wb.Comparison(ordinary())
    for label, spent_us in (("A", (10, 10, 10, 5000)), ("B", (20, 20, 20, 20))):
        profile = profile_of(tmp_path, spent_us, plain_s=0.0123)
        for kind, record in (
            ("explanation", explained_of(graph, graph)),
            ("profile", record_of(profile)),
            ("roofline", roofline(profile, PEAKS)),
        ):
            result.parts = (*result.parts, Part(f"{kind}/{label}", record, about()))
    return result


def test_every_picture_of_a_run_divides_its_median(compared: wb.Comparison) -> None:
    graph, flame = compared.graph(), compared.flame(way="operator")
    boxes = flame.to_frame("operator")
    difference = flame.difference
    assert difference is not None
    for run, pane, difference_s in zip(
        compared.runs, graph.panes, (difference.a_s, difference.b_s), strict=True
    ):
        latency_s = run.latency.median_s
        profile, limits = compared.profile(run.label), compared.roofline().by_label[run.label]
        by_op = profile.by("op_type").set_index("op_type")["self_s"]
        gaps_s = by_op[[BETWEEN_NODES, SCHEDULING]].sum()
        nodes_s = latency_s - gaps_s
        assert by_op.sum() == pytest.approx(latency_s)
        assert boxes[(boxes.pane == run.label) & (boxes.depth == 0)].total_s.sum() == pytest.approx(latency_s)
        assert difference_s == pytest.approx(latency_s)
        assert sum(row.time_s or 0 for row in pane.rows if row.kind == "node") == pytest.approx(nodes_s)
        assert profile.to_frame().self_s.sum() == pytest.approx(nodes_s)
        assert sum(profile.node_times_s().values()) == pytest.approx(nodes_s)
        assert limits.run_s == pytest.approx(latency_s)
        assert sum(limit.time_s for limit in limits.nodes) == pytest.approx(nodes_s)
        (bars,) = profile.op_type_figure().data
        assert sum(bars.x) == pytest.approx(latency_s * 1e3)


def test_what_the_panels_hold_is_scaled_too(compared: wb.Comparison) -> None:
    for run in compared.runs:
        latency_s = run.latency.median_s
        assert compared.made("profile", run.label).run_s == latency_s
        assert compared.made("roofline", run.label).record.run_s == pytest.approx(latency_s)


def test_every_caption_names_the_time(compared: wb.Comparison) -> None:
    first = compared.profile("A")
    assert "the measured median" in first.time_words
    assert first.time_words in op_type_chart(first).sentences[0]
    assert first.time_words in str(compared.flame(way="operator").pictures[1].panes[0].note)


def test_without_a_comparison_the_runs_without_the_profiler_count(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, (10, 10, 10, 5000), plain_s=0.0123)
    assert profile.by("op_type").self_s.sum() == pytest.approx(0.0123)
    assert profile.time_words == "12.3 ms, the median without the profiler"


def test_a_trace_alone_has_its_steady_runs(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, (10, 10, 10, 5000), plain_s=None)
    assert profile.by("op_type").self_s.sum() == pytest.approx(min(profile.runs_s))
    assert profile.to_frame().calls.tolist() == [1] * len(NODES)
    assert profile.time_words.endswith("the mean of the fastest 3 of 4 runs, with the profiler on")
