"""The tree nests real traces rightly, and its parts add up to the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.features.profile.traces import chain, event, looped, node, trace_of, wide, write
from workbench.features.profile.reader import read_trace
from workbench.features.profile.trace import EventKind, Trace
from workbench.features.profile.tree import NO_PARENT, EventTree, build_tree


def adds_up(trace: Trace, tree: EventTree) -> None:
    """Own parts sum to the whole of each run, and no part is negative."""
    for position, run in enumerate(tree.runs):
        part = (tree.run == position) & (tree.kind != EventKind.KERNEL) & ~np.isnan(tree.self_us)
        assert tree.self_us[part].sum() == pytest.approx(trace.duration_us[run], abs=1e-6)
    taking = ~np.isnan(tree.self_us)
    assert (tree.self_us[taking] >= -1e-6).all()
    for parent in np.flatnonzero(taking & (tree.kind != EventKind.KERNEL)):
        below = (tree.parent == parent) & (tree.kind != EventKind.KERNEL)
        total = tree.share_us[below].sum() + tree.self_us[parent]
        assert total == pytest.approx(tree.share_us[parent], abs=1e-6)


def path_of(trace: Trace, tree: EventTree, event: int) -> list[str]:
    path = []
    while event != NO_PARENT:
        path.append(trace.name_of(event).removesuffix("_kernel_time"))
        event = int(tree.parent[event])
    return path


@pytest.mark.real
def test_runs_hold_their_executor_and_that_its_nodes(tmp_path: Path) -> None:
    trace = read_trace(
        trace_of(chain(), tmp_path, {"x": np.ones((4, 16), np.float32)}, intra_op_num_threads=2)
    )
    tree = build_tree(trace)
    adds_up(trace, tree)
    assert len(tree.runs) == 3
    for run in tree.runs:
        (executor,) = tree.children(run)
        assert tree.kind[executor] == EventKind.EXECUTOR
        assert [tree.kind[child] for child in tree.children(executor)] == [EventKind.NODE] * 8
    assert {trace.name_of(position) for position in np.flatnonzero(tree.kind == EventKind.SESSION)} == {
        "model_loading_array",
        "session_initialization",
    }


@pytest.mark.real
def test_loop_and_if_nest_once_an_iteration(tmp_path: Path) -> None:
    trace = read_trace(trace_of(looped(trips=3), tmp_path, {"x": np.ones((8, 8), np.float32)}, runs=2))
    tree = build_tree(trace)
    adds_up(trace, tree)
    execute = "SequentialExecutor::Execute"
    in_loop = [
        position for position in range(len(trace)) if trace.name_of(position).startswith("body_matmul")
    ]
    assert len(in_loop) == 6
    for position in in_loop:
        assert path_of(trace, tree, position)[1:] == [execute, "loop", execute, "model_run"]
    branches = [position for position in range(len(trace)) if trace.name_of(position)[:4] in ("then", "else")]
    assert len(branches) == 6
    for position in branches:
        assert path_of(trace, tree, position)[1:6] == [execute, "body_if", execute, "loop", execute]
    loops = [position for position in range(len(trace)) if trace.name_of(position).startswith("loop")]
    assert [len(tree.children(position)) for position in loops] == [3, 3]


@pytest.mark.real
def test_a_parallel_executor_holds_the_nodes_of_all_threads(tmp_path: Path) -> None:
    for attempt in range(20):  # on a busy machine one thread may take all the nodes of a trace
        folder = tmp_path / str(attempt)
        folder.mkdir()
        path = trace_of(
            wide(),
            folder,
            {"x": np.ones((160, 160), np.float32)},
            runs=5,
            execution_mode=ort.ExecutionMode.ORT_PARALLEL,
            inter_op_num_threads=3,
        )
        trace = read_trace(path)
        tree = build_tree(trace)
        adds_up(trace, tree)
        nodes = np.flatnonzero(tree.kind == EventKind.NODE)
        assert all(tree.kind[tree.parent[position]] == EventKind.EXECUTOR for position in nodes)
        assert [int((tree.run[nodes] == run).sum()) for run in range(5)] == [9] * 5
        if len(set(trace.tid[nodes].tolist())) > 1:
            return
    pytest.fail("no trace had nodes on more than one thread")


@pytest.mark.real
def test_a_loop_in_a_parallel_executor_nests_on_its_own_thread(tmp_path: Path) -> None:
    path = trace_of(
        looped(),
        tmp_path,
        {"x": np.ones((8, 8), np.float32)},
        execution_mode=ort.ExecutionMode.ORT_PARALLEL,
        inter_op_num_threads=2,
    )
    trace = read_trace(path)
    tree = build_tree(trace)
    adds_up(trace, tree)
    (first, *_) = [
        position for position in range(len(trace)) if trace.name_of(position).startswith("body_matmul")
    ]
    assert path_of(trace, tree, first)[2] == "loop"


def test_siblings_that_begin_in_the_same_microsecond_stay_siblings(tmp_path: Path) -> None:
    events = [
        node("a", 10, 0),
        node("b", 10, 0),
        event("SequentialExecutor::Execute", 10, 0, "Session"),
        node("if", 10, 1, "If"),
        node("c", 11, 3),
        event("SequentialExecutor::Execute", 9, 6, "Session"),
        event("model_run", 9, 7, "Session"),
    ]
    trace = read_trace(write(tmp_path, events))
    tree = build_tree(trace)
    adds_up(trace, tree)
    assert tree.parent.tolist() == [2, 2, 3, 5, 5, 6, NO_PARENT]


def test_kernels_of_a_device_belong_to_their_node_and_take_none_of_its_time(tmp_path: Path) -> None:
    events = [
        node("a", 0, 4),
        node("a", 10, 4),
        event("sgemm", 12, 50, "Kernel", tid=9, op_name="a"),
        event("SequentialExecutor::Execute", 0, 15, "Session"),
        event("model_run", 0, 15, "Session"),
    ]
    trace = read_trace(write(tmp_path, events))
    tree = build_tree(trace)
    adds_up(trace, tree)
    assert tree.parent[2] == 1
    assert tree.self_us[1] == 4


def test_nodes_of_an_unfinished_run_stand_by_themselves(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, [node("a", 0, 4), node("b", 5, 4)], close=False))
    tree = build_tree(trace)
    assert tree.runs == ()
    assert tree.parent.tolist() == [NO_PARENT, NO_PARENT]


def test_very_deep_nesting_takes_no_longer_than_its_events(tmp_path: Path) -> None:
    depth = 20_000
    events = [event(f"e{level}", depth - level, 2 * level + 1, "Other") for level in range(depth)]
    trace = read_trace(write(tmp_path, events))
    tree = build_tree(trace)
    assert tree.parent.tolist() == [*range(1, depth), NO_PARENT]
    assert tree.self_us.sum() == pytest.approx(float(trace.duration_us[-1]))


@st.composite
def executions(draw: st.DrawFn) -> list[dict[str, object]]:
    """A run as ORT would write it: nodes one after another, some with a subgraph, in whole microseconds."""
    events: list[dict[str, object]] = []

    def graph(start: int, depth: int) -> int:
        now = start + draw(st.integers(0, 2))
        for _ in range(draw(st.integers(0, 3))):
            began = now
            now += draw(st.integers(0, 5))
            if depth and draw(st.booleans()):
                now = graph(now, depth - 1)
            events.append(node(f"n{len(events)}", began, now - began))
            now += draw(st.integers(0, 2))
        events.append(event("SequentialExecutor::Execute", start, now - start, "Session"))
        return now

    now = 0
    for _ in range(draw(st.integers(1, 3))):
        began = now
        now = graph(now, 2) + draw(st.integers(0, 2))
        events.append(event("model_run", began, now - began, "Session"))
        now += 1
    return events


@settings(max_examples=amount(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(events=executions())
def test_the_parts_of_any_execution_add_up(events: list[dict[str, object]], tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, events))
    tree = build_tree(trace)
    adds_up(trace, tree)
    inner = (tree.kind == EventKind.NODE) | (tree.kind == EventKind.EXECUTOR)
    assert (tree.run[inner] != NO_PARENT).all()


SPANS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20)), min_size=1, max_size=6)


@settings(max_examples=amount(80), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(spans=SPANS)
def test_overlapping_threads_share_the_clock_and_lose_none(
    spans: list[tuple[int, int]], tmp_path: Path
) -> None:
    events = [node(f"n{i}", start, length, tid=2 + i) for i, (start, length) in enumerate(spans)]
    end = max(start + length for start, length in spans)
    events.append(event("SequentialExecutor::Execute", 0, end, "Session"))
    events.append(event("model_run", 0, end, "Session"))
    trace = read_trace(write(tmp_path, events))
    tree = build_tree(trace)
    adds_up(trace, tree)
    covered = len({moment for start, length in spans for moment in range(start, start + length)})
    executor = len(spans)
    assert tree.self_us[executor] == pytest.approx(end - covered)
