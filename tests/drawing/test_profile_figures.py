"""Figures of profiles, rooflines, memory, starts and threads: what they hold, and that names are text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.factories import results
from tests.features.profile.traces import chain, event, node, trace_of, write
from workbench.core.bundle.estimate import Estimate
from workbench.drawing.chart_figure import chart_figure
from workbench.features.cold_start import cold_start_chart
from workbench.features.cold_start.record import ColdStartRecord, ProcessStart
from workbench.features.profile.calls import read_profile
from workbench.features.profile.memory.by_node import MemoryRecord, NodeMemory, memory_of
from workbench.features.profile.memory.chart import memory_figure
from workbench.features.profile.result import op_type_chart
from workbench.features.profile.roofline.chart import roofline_figure
from workbench.features.profile.roofline.node_limits import NodeLimit, RooflineRecord
from workbench.features.profile.roofline.peaks import PeakRow
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.variants.memory_settings import settings_chart
from workbench.features.variants.threads import threads_chart


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> SessionProfile:
    folder = tmp_path_factory.mktemp("figures")
    return read_profile(trace_of(chain(), folder, {"x": np.ones((4, 16), np.float32)}))


@pytest.mark.real
def test_bars_by_op_type_add_up_to_a_run(profile: SessionProfile) -> None:
    figure = chart_figure(op_type_chart(profile))
    (bars,) = figure.data
    assert sum(bars.x) == pytest.approx(1e3 * sum(profile.runs_s) / len(profile.runs_s))
    assert set(figure.layout.yaxis.ticktext) == {"MatMul", "Sigmoid", "(between nodes)", "(scheduling)"}
    assert "(ms)" in figure.layout.xaxis.title.text


def test_strangers_names_are_text(tmp_path: Path) -> None:
    events = [node("<b>n</b>", 0, 5, "<i>op</i>"), event("model_run", 0, 6, "Session")]
    stranger = read_profile(write(tmp_path, events))
    called = NodeMemory(0, "<b>n</b>", "<i>op</i>", None, None, None, None, live_bytes=4096)
    for figure in (
        chart_figure(op_type_chart(stranger)),
        memory_figure(MemoryRecord((called,), None, None, None, None)),
    ):
        told = str(figure.to_dict())
        assert "&lt;i&gt;op" in told
        assert "<i>op" not in told
        assert "<b>n" not in told


def test_an_empty_profile_draws(tmp_path: Path) -> None:
    empty = read_profile(write(tmp_path, [node("a", 0, 1)]))
    assert not chart_figure(op_type_chart(empty)).data


def test_the_roofline_draws_what_is_known_under_both_roofs() -> None:
    nodes = (
        NodeLimit("a", "MatMul", 1, 0.001, 10**7, 10**5, 0.0005, "compute"),
        NodeLimit("b", "MatMulInteger", 1, 0.001, 10**7, 10**5, 0.0005, "compute"),
        NodeLimit("c", "Mystery", 1, 0.001, None, 10**5, None, None),
    )
    figure = roofline_figure(RooflineRecord(nodes, PeakRow(2, 100e9, 400e9, 10e9), 0.004))
    names = [trace.name for trace in figure.data]
    assert names == ["float32 and others", "int8", "float32 peak, 100 GFLOP/s", "int8 peak, 400 GOP/s"]
    assert figure.data[0].y == pytest.approx((10.0,))
    assert figure.layout.meta["title"][-1].endswith("not known: 1 node")
    ticks = dict(zip(figure.layout.xaxis.tickvals, figure.layout.xaxis.ticktext, strict=True))
    assert (ticks[0.5], ticks[2.0], ticks[100.0]) == ("0.5", "2", "100")


def test_the_three_nodes_with_most_to_win_are_named() -> None:
    def at(name: str, limit_s: float) -> NodeLimit:
        return NodeLimit(name, "Mul", 1, 0.01, 10**7, 10**5, limit_s, "compute")

    nodes = (at("a", 0.009), at("b", 0.001), at("c", 0.002), at("/long/path/of/a/node/MatMul_1", 0.003))
    figure = roofline_figure(RooflineRecord(nodes, PeakRow(1, 100e9, None, 10e9), 0.2))
    assert dict(zip((row[0] for row in figure.data[0].customdata), figure.data[0].text, strict=True)) == {
        "a": "",
        "b": "1 b",
        "c": "2 c",
        "/long/path/of/a/node/MatMul_1": "3 MatMul_1",
    }
    winners = "most to win: 1 b: 9 ms, 2 c: 8 ms, 3 …ath/of/a/node/MatMul_1: 7 ms"
    assert winners in figure.layout.meta["title"][1]


def test_a_node_without_operations_is_told_to_be_in_the_table() -> None:
    nodes = (
        NodeLimit("Reshape_1", "Reshape", 1, 40e-6, None, 10**5, 1e-6, "memory"),
        NodeLimit("m/MatMul", "MatMul", 1, 30e-6, 10**5, 10**5, 10e-6, "compute"),
    )
    figure = roofline_figure(RooflineRecord(nodes, PeakRow(1, 100e9, None, 10e9), 0.2))
    assert figure.data[0].text == ("2 MatMul",), "its number is that of the title"
    assert "1 Reshape_1: 39 µs (in the table), 2 m/MatMul: 20 µs" in figure.layout.meta["title"][1]


def test_peaks_that_differ_between_runs_stand_in_one_entry() -> None:
    nodes = (NodeLimit("a", "MatMul", 1, 0.001, 10**7, 10**5, 0.0005, "compute"),)
    runs = {
        label: RooflineRecord(nodes, PeakRow(2, 96e9, int8, 10e9), 0.004)
        for label, int8 in (("A", 818e9), ("B", 844e9))
    }
    figure = roofline_figure(runs)
    entries = [trace.name for trace in figure.data if trace.showlegend]
    assert entries == ["float32 and others", "float32 peak, 96 GFLOP/s", "int8, A 818, B 844 GOP/s"]


@pytest.mark.real
def test_memory_has_no_line_for_what_is_not_told(profile: SessionProfile) -> None:
    names = [trace.name for trace in memory_figure(memory_of(profile)).data]
    assert names == ["held by the arena", "in use in the arena"]


def test_steps_of_a_start_stack_and_absent_ones_stay_absent() -> None:
    start = ProcessStart(0.1, 0.2, 0.3, 0.04, 0.01, None, None, None, None, None)
    figure = chart_figure(
        cold_start_chart(
            {
                "A": ColdStartRecord("A", (start,), (start,), (start,)),
                "B": ColdStartRecord("B", (start,), (start,), ()),
            }
        )
    )
    steps = {trace.name: trace.x for trace in figure.data if trace.xaxis == "x"}
    assert figure.layout.yaxis.ticktext == ("A", "A, pre-optimized", "B")
    assert steps["import"] == pytest.approx((200, 200, 200))
    assert steps["optimize"] == (0,), "of A: where no graph is saved, loading is one step"
    assert steps["read or load"] == pytest.approx((300, 300, 300))
    assert "steady run" not in steps
    assert not [trace for trace in figure.data if trace.xaxis == "x2"], "no memory was told"


def test_what_each_stage_of_a_start_added_to_the_memory() -> None:
    mib = 1 << 20
    start = ProcessStart(0.1, 0.2, 0.3, 0.04, 0.01, 10 * mib, 40 * mib, 100 * mib, 90 * mib, 120 * mib)
    (row,) = cold_start_chart({"A": ColdStartRecord("A", (start,), (start,), ())}).rows
    assert {value.text.partition(":")[0]: value.value for value in row.values[1]} == {
        "process start": 10, "import": 30, "load": 60, "first run": 0, "steady run": 20,
    }  # fmt: skip
    assert row.totals[1] == "120.0 MiB"


def test_memory_settings_draw_memory_and_latency_of_each() -> None:
    asked, off = (replace(row, latency_s=0.01) for row in results.settings().rows)
    asked = replace(asked, peak_bytes=8 << 20)
    off = replace(off, peak_bytes=4 << 20, verdict="faster", ratio=Estimate(1.1, 1.05, 1.2))
    found = replace(results.settings(), model_name="m", rows=(asked, off))
    figure = chart_figure(settings_chart(found))
    assert figure.data[0].x == (8, 4)
    assert figure.data[-1].x == (10, 10)
    assert str(found) == "m: as asked 8.0 MiB at the peak; arena off: 4.0 MiB less, 1.10× as fast"


def test_the_fewest_threads_near_the_best_are_named() -> None:
    times = {1: 0.01, 2: 0.005, 4: 0.005}
    points = [results.thread_point(n, spin, t) for spin in (True, False) for n, t in times.items()]
    figure = chart_figure(threads_chart(results.scaling(*points)))
    texts = [trace.text for trace in figure.data if trace.xaxis == "x"]
    assert texts == [("10 ms", "5 ms, enough", "5 ms")] * 2
