"""Tables whose parts add up, and profiles made in real workers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from tests.features.profile.traces import chain, event, looped, make, node, trace_of, value, write
from workbench.core.config import Config
from workbench.features.profile.calls import read_profile
from workbench.features.profile.flame.merged import DEEPEST_BOX
from workbench.features.profile.flame.view import flame_view
from workbench.features.profile.running import Execution, named_model, profile_execution
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import scopes_of


def run_of(start: float, *nodes: tuple[str, str, float]) -> list[dict[str, object]]:
    """One run: each node after a gap of 1 µs, 2 µs around the executor."""
    events, now = [], start + 1
    for name, op, duration in nodes:
        events.append(node(name, now + 1, duration, op))
        now += 1 + duration
    events.append(event("SequentialExecutor::Execute", start + 1, now - start - 1, "Session"))
    events.append(event("model_run", start, now - start + 1, "Session"))
    return events


@pytest.fixture
def hand(tmp_path: Path) -> SessionProfile:
    events = []
    for index, slow in enumerate((50, 4, 4, 8)):
        events += run_of(
            1000 * index, ("/a/mm", "MatMul", 10), ("/a/act", "Relu", slow), ("/b/mm", "MatMul", 6)
        )
    return read_profile(write(tmp_path, events))


def test_the_first_run_is_warm_up_and_counts_nowhere(hand: SessionProfile) -> None:
    assert hand.warmup_runs == 1
    assert hand.runs_s == pytest.approx((25e-6, 25e-6, 29e-6))
    table = hand.to_frame()
    assert list(table.columns[:7]) == ["node", "op_type", "provider", "scope", "calls", "total_s", "self_s"]
    assert table["node"].tolist() == ["/a/mm", "/b/mm", "/a/act"]
    assert table["calls"].tolist() == [1, 1, 1]
    assert table["total_s"].tolist() == pytest.approx([10e-6, 6e-6, 4e-6])


def test_shares_of_every_grouping_sum_to_one_with_named_gaps(hand: SessionProfile) -> None:
    for group in ("node", "op_type", "scope", "provider", "thread"):
        table = hand.by(group)  # type: ignore[arg-type]
        assert table["share"].sum() == pytest.approx(1)
        assert table["self_s"].sum() == pytest.approx(hand.run_s) == pytest.approx(25e-6)
    by_op = hand.by("op_type").set_index("op_type")
    assert by_op.loc["MatMul", "calls"] == 2
    assert by_op.loc["MatMul", "mean_s"] == pytest.approx(8e-6)
    assert by_op.loc["(between nodes)", "self_s"] == pytest.approx(3e-6)
    assert by_op.loc["(scheduling)", "self_s"] == pytest.approx(2e-6)
    assert hand.by("scope").set_index("scope").loc["/a", "calls"] == 2


def test_the_node_that_varies_most_stands_first(hand: SessionProfile) -> None:
    table = hand.variation()
    assert table.iloc[0]["node"] == "/a/act"
    assert table.iloc[0]["max_s"] == pytest.approx(8e-6)
    assert table["p90_s"].isna().all()


def test_times_scale_to_a_latency_and_shares_stay(hand: SessionProfile) -> None:
    scaled = hand.scaled_to(10e-6)
    assert scaled.by("op_type")["self_s"].sum() == pytest.approx(10e-6)
    assert scaled.variation()["max_s"].max() == pytest.approx(10e-6 * 10 / 25)
    assert scaled.runs_s == hand.runs_s
    assert scaled.to_frame()["share"].tolist() == pytest.approx(hand.to_frame()["share"].tolist())
    assert hand.run_s == pytest.approx(25e-6)
    assert hand.scaled_to(None) is hand


def test_spans_hold_the_tree(hand: SessionProfile) -> None:
    spans = hand.spans().set_index("event")
    nodes = spans[spans["kind"] == "node"]
    assert set(spans.loc[nodes["parent"], "kind"]) == {"executor"}
    assert spans.loc[spans["kind"] == "run", "duration_s"].sum() == pytest.approx(spans["self_s"].sum())


def test_names_from_strangers_are_escaped(tmp_path: Path) -> None:
    events = run_of(0, ("<script>alert(1)</script>", "<b>op</b>", 5))
    html = read_profile(write(tmp_path, events)).page_html()
    assert "&lt;script&gt;alert" in html
    assert "<script>alert" not in html
    assert "<b>op" not in html


def test_a_trace_without_a_run_says_so(tmp_path: Path) -> None:
    profile = read_profile(write(tmp_path, [node("a", 0, 1)], close=False))
    assert "no run was completed" in str(profile)
    assert profile.to_frame().empty
    assert profile.by("op_type").empty
    assert profile.variation().empty


def test_runs_that_took_no_microsecond_are_shown(tmp_path: Path) -> None:
    view = flame_view(read_profile(write(tmp_path, [node("a", 0, 0), event("model_run", 0, 0, "Session")])))
    assert str(view) == "run: 0 µs, the mean of the fastest 1 of 1 run, with the profiler on."


def test_what_is_nested_too_deep_counts_for_the_box_above_it(tmp_path: Path) -> None:
    depth = 3000
    nested = [event(f"n{level}", depth - level, 2 * level + 1, "Other") for level in range(depth)]
    view = flame_view(read_profile(write(tmp_path, [*nested, event("model_run", 0, 3 * depth, "Session")])))
    boxes = view.to_frame("module")
    assert boxes["depth"].max() == DEEPEST_BOX
    assert boxes["self_s"].sum() == pytest.approx(3 * depth / 1e6)


@pytest.mark.real
def test_nodes_of_subgraphs_count_their_iterations(tmp_path: Path) -> None:
    profile = read_profile(trace_of(looped(3), tmp_path, {"x": np.ones((8, 8), np.float32)}, runs=4))
    table = profile.to_frame().set_index("node")
    assert table.loc["body_matmul", "calls"] == 3
    assert table.loc["loop", "self_s"] < table.loc["loop", "total_s"]
    assert profile.by("node")["self_s"].sum() == pytest.approx(profile.run_s)


def test_modules_come_from_tensors_and_metadata_where_ort_renamed_the_node() -> None:
    source = make(
        [
            helper.make_node("Relu", ["x"], ["relu_1"], "node_relu"),
            helper.make_node("Tanh", ["relu_1"], ["y"], "t"),
        ],
        [value("x", [2, 8])],
        [value("y", [2, 8])],
    )
    entry = source.graph.node[0].metadata_props.add()
    entry.key, entry.value = "pkg.torch.onnx.name_scopes", "['', 'model', 'model.encoder', 'relu_1']"
    broken = source.graph.node[1].metadata_props.add()
    broken.key, broken.value = "pkg.torch.onnx.name_scopes", "__import__('os')"
    optimized = make(
        [
            helper.make_node("Relu", ["x"], ["relu_1_nchwc"], "fused Relu"),
            helper.make_node("Gelu", ["relu_1_nchwc"], ["/decoder/act/Mul_output_0"], "Gelu_token_3"),
            helper.make_node("Tanh", ["/decoder/act/Mul_output_0"], ["y"], "/head/Tanh"),
        ],
        [value("x", [2, 8])],
        [value("y", [2, 8])],
    )
    scopes = scopes_of(optimized, source)
    assert scopes == {"fused Relu": "model/encoder", "Gelu_token_3": "/decoder/act"}


@pytest.mark.real
@pytest.mark.usefixtures("own_home")
def test_a_profile_made_in_workers_names_unnamed_nodes_and_tells_its_cost(tmp_path: Path) -> None:
    model = make(
        [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Softmax", ["r"], ["y"])],
        [value("x", [2, 8])],
        [value("y", [2, 8])],
    )
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert named_model(path) == named_model(path) != path
    execution = Execution(
        path, Config(intra_op_threads=1), [{"x": np.ones((2, 8), np.float32)}], max_runs=5, budget_s=0.2
    )
    profile = profile_execution(execution, keep_trace=tmp_path / "kept.json")
    assert set(profile.to_frame()["node"]) == {"Relu_0", "Softmax_0"}
    assert profile.warmup_runs == 3
    assert len(profile.runs_s) == len(profile.overhead.profiled_s) == 5  # type: ignore[union-attr]
    assert "Profiling changed a run" in str(profile)
    assert len(read_profile(tmp_path / "kept.json").trace) == len(profile.trace)


def test_a_model_with_names_is_used_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(chain().SerializeToString())
    assert named_model(path) == path
