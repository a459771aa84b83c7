"""What the graph view shows, as data."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given

from benchmarks.graphs import CPU, CUDA, explained, explained_of
from tests.factories.graphs import HOSTILE, empty, fused, graph, hostile, node, pane
from tests.features.explain.graphs import Draft, drafts
from workbench.core.models.graph import TensorInfo
from workbench.drawing.canvas.columns import unpack
from workbench.features.explain.graph_view import graph_view
from workbench.features.explain.graph_view.making import links_of_two, optimized_pane
from workbench.features.explain.graph_view.pane import GraphRow, TensorErrors, Wire, shape_text
from workbench.features.explain.graph_view.payload import parts_strip
from workbench.features.explain.graph_view.scopes import paths_of
from workbench.features.explain.placement.prediction import predict


def test_source_and_optimized_rows() -> None:
    view = graph_view(fused())
    before, after = view.panes
    passes = ("BiasReluFusion",)
    assert [(r.node, r.provider, r.fate, r.passes) for r in before.rows] == [
        ("x", None, None, ()),
        ("/a/MatMul", CUDA, "fused", passes),
        ("/a/Add", CUDA, "fused", passes),
        ("/a/Softmax", CPU, "kept", ()),
        ("y", None, None, ()),
    ]
    assert after.rows[1] == GraphRow(
        "/a/Gemm", "Gemm", provider=CUDA, partition=0, fate="fused", passes=passes,
        shapes="float32 1×4", size_bytes=16,
    )  # fmt: skip
    assert after.wires == (
        Wire(0, 1, "x", None, False, False),
        Wire(1, 2, "s", 16, False, True),
        Wire(2, 3, "y", 16, False, False),
    )
    assert view.links == ((0, 0), (1, 1), (2, 1), (3, 2), (4, 3))
    assert str(view) == (
        "made: source: 3 nodes (1 kept, 2 fused); "
        "optimized: 2 nodes (1 on CUDA, 1 on CPU) in 2 partitions with 1 tensor crossing."
    )


def test_several_partitions_are_a_second_tree() -> None:
    before, after = graph_view(fused()).panes
    assert before.partitions is None
    assert after.partitions is not None
    view = graph_view(explained(60, on_cpu=("Softmax",)))
    assert view.panes[1].partitions is not None
    labels = [box.label for box in view.panes[1].partitions.boxes]
    assert any(label.startswith("CUDA 0") for label in labels)


def test_the_sentence_says_how_many_partitions_each_provider_has() -> None:
    first, last = node("/a", "MatMul", ("x", "w"), "m"), node("/c", "MatMul", ("s", "w"), "y")
    net = graph(first, node("/b", "Softmax", ("m",), "s"), last)
    view = graph_view(explained_of(net, net, on_cpu=("Softmax",)))
    assert "in 3 partitions (2 on CUDA, 1 on CPU) with 2 tensors crossing" in str(view)


def test_a_strip_counts_nodes_by_provider_and_parts() -> None:
    pane = graph_view(fused()).panes[1]
    assert parts_strip(pane) == "CUDA 1 ▇▇▇▇▇▇▁▁▁▁▁▁ CPU 1 · 2 parts, 2 of them a single node"
    header = json.loads(graph_view(fused()).header)
    assert [pane["note"] for pane in header["panes"]] == ["", parts_strip(pane)]
    assert parts_strip(graph_view(explained(30)).panes[1]) == ""


def test_times_come_from_a_profile_by_name() -> None:
    view = graph_view(fused(), times_s={"/a/Gemm": 2e-3})
    assert [row.time_s for row in view.panes[1].rows] == [None, 2e-3, None, None]
    modes = {mode["name"]: mode for mode in json.loads(view.header)["modes"]}
    assert modes["time"]["known"]
    without = {mode["name"]: mode for mode in json.loads(graph_view(fused()).header)["modes"]}
    assert not without["time"]["known"]
    assert without["time"]["label"] == "time (needs a profile)"


def test_two_configs_are_linked_by_the_source_nodes_that_they_do() -> None:
    told = fused()
    plain = explained_of(told.source, told.source)
    view = graph_view(plain, told)
    assert [pane.title for pane in view.panes] == ["A, optimized", "B, optimized"]
    assert view.links == ((0, 0), (1, 1), (2, 1), (3, 2), (4, 3))


def test_links_cross_a_source_that_was_prepared() -> None:
    told = fused()
    prepared = explained_of(told.optimized, told.optimized)
    left, right = optimized_pane(explained_of(told.source, told.source)), optimized_pane(prepared)
    plain = explained_of(told.source, told.source)
    assert links_of_two(plain, prepared, left, right) == ((0, 0), (1, 1), (2, 1), (3, 2), (4, 3))


def test_a_prediction_is_called_one() -> None:
    told = explained(30)
    view = graph_view(told, prediction=predict(told.basic, "CUDA"))
    assert len(view.panes) == 1
    assert "PREDICTION, nothing of this ran" in view.panes[0].note
    assert "PREDICTION" in str(view)
    header = json.loads(view.header)
    assert header["modes"][0]["label"] == "provider (predicted)"
    assert {row.provider for row in view.panes[0].rows if row.kind == "node"} <= {CUDA, CPU, None}


def test_a_mask_is_a_stub_and_the_inputs_of_bodies_are_none_of_the_models() -> None:
    told = explained(600)
    hubs = {wire.tensor for wire in told_wires(told) if wire.hub}
    assert hubs == {"/model/mask/Cast_output_0", "/model/rope/Cos_output_0"}
    inner = replace(node("if::deep", "Add", ("if::b",), "if::o"), scope="if")
    made = graph(inner, node("if", "If", ("x",), "y"))
    made = replace(made, inputs=("x", "if::b"))
    assert [row.node for row in pane(made).rows if row.kind == "input"] == ["x"]


def told_wires(told):  # type: ignore[no-untyped-def]
    return graph_view(told).panes[0].wires


def test_nothing_is_said_to_be_nothing() -> None:
    view = graph_view(empty())
    assert str(view) == "nothing: source: no nodes; optimized: no nodes."
    assert view.still().to_png().startswith(b"\x89PNG")


def test_texts_arrive_as_texts() -> None:
    view = graph_view(hostile())
    header = json.loads(view.header)
    assert any(HOSTILE in text for text in header["texts"])
    assert "<img" not in view.still().to_svg()
    assert "<script" not in view.still().to_svg()


def test_a_name_of_a_megabyte_is_cut() -> None:
    made = graph(node("n" * 1_000_000, "Add", ("x",), "y"))
    view = graph_view(explained_of(made, made))
    assert len(view.header) < 30_000


def test_shapes_are_told() -> None:
    assert shape_text(TensorInfo(1, (1, "batch", None))) == "float32 1×batch×?"
    assert shape_text(TensorInfo(7, ())) == "int64 scalar"
    assert shape_text(TensorInfo(999, None)) == "?, shape unknown"
    assert shape_text(TensorInfo(None, None)) == shape_text(None) == ""


def test_the_cell_shows_the_view_a_picture_and_a_sentence() -> None:
    bundle = graph_view(fused())._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "image/png", "text/plain"}


@given(drafts())
def test_every_wire_joins_a_maker_and_a_reader(draft: Draft) -> None:
    made = draft.graph()
    shown = pane(made)
    names = [row.node for row in shown.rows]
    expected = {(one.key, name) for one in made.nodes for name in one.reads}
    inner = {(names[w.target], w.tensor) for w in shown.wires if shown.rows[w.target].kind == "node"}
    assert inner == expected
    assert all(w.source < w.target for w in shown.wires)
    assert len(paths_of(made)) == len(made.nodes)


@given(drafts())
def test_the_columns_hold_what_the_panes_say(draft: Draft) -> None:
    made = draft.graph()
    view = graph_view(explained_of(made, made))
    header = json.loads(view.header)
    columns = unpack(header["columns"], view.columns)
    texts = header["texts"]
    for number, shown in enumerate(view.panes):
        assert [texts[at] for at in columns[f"{number}_name"]] == [row.node for row in shown.rows]
        assert columns[f"{number}_wire_to"].tolist() == [wire.target for wire in shown.wires]
        assert columns[f"{number}_modules_home"].tolist() == list(shown.modules.home)


def test_a_node_has_the_error_of_the_worst_tensor_that_it_makes_or_has_swallowed() -> None:
    far = {"m": 0.5, "s": 0.002, "y": None}  # m is made by the MatMul that Gemm swallowed
    view = graph_view(fused(), fused(), errors=TensorErrors(far, 0.01), color="error")
    assert [row.error for row in view.panes[1].rows] == [
        "", "over ten times the tolerance", "NaN or infinity", "",
    ]  # fmt: skip
    unknown = graph_view(fused(), fused(), errors=TensorErrors({"s": 0.002}, 0.01))
    assert [row.error for row in unknown.panes[1].rows] == ["", "within the tolerance", "not compared", ""]
    labels = {
        each.color: {mode["name"]: mode["known"] for mode in json.loads(each.header)["modes"]}["error"]
        for each in (view, graph_view(fused(), fused()))
    }
    assert labels == {"error": True, "provider": False}
