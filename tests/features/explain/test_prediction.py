"""Predictions: the tables are well-formed, unknown stays unknown, units can run one after the other."""

from __future__ import annotations

import math
from dataclasses import replace

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.features.explain.conftest import Explain
from tests.features.explain.graphs import Draft, drafts, node
from workbench.core.errors import ConfigError
from workbench.core.models.graph import Graph, TensorInfo
from workbench.features.explain.placement.comparing import compare_prediction
from workbench.features.explain.placement.prediction import predict, predict_all, recorded_checks
from workbench.features.explain.placement.records import PlacedNode, Placement, units
from workbench.features.explain.placement.support import NAMES, SupportTable, support_tables

CPU, NPU, OPENVINO = "CPUExecutionProvider", "NpuExecutionProvider", "OpenVINOExecutionProvider"
OLD_NAMES = {  # of operators that ONNX dropped before its schemas were kept, or that ORT alone has
    "ATen", "Affine", "ConstantFill", "Crop", "DynamicSlice", "FusedConv", "ImageScaler",
    "ParametricSoftplus", "ScaledTanh", "SimplifiedLayerNormalization", "MemcpyFromHost", "MemcpyToHost",
    "Roialign",
}  # fmt: skip


def names() -> set[str]:
    return {schema.name for schema in onnx.defs.get_all_schemas_with_history() if schema.domain == ""}


@pytest.mark.parametrize("table", support_tables(), ids=lambda table: table.name)
def test_a_table_speaks_of_real_operators_and_types(table: SupportTable) -> None:
    known = names() | OLD_NAMES
    for rule in table.rules:
        domain, _, name = rule.operator.rpartition("::")
        assert domain in ("", "com.microsoft")
        assert domain or name in known, name
        assert set(rule.types) <= set(NAMES.values())
        assert rule.since is None or 1 <= rule.since <= 30
    assert table.source
    assert table.version
    assert len({rule.operator for rule in table.rules}) == len(table.rules)


def test_every_provider_that_was_asked_for_has_a_table() -> None:
    assert {table.name for table in support_tables()} == {
        "CUDA", "CoreML (MLProgram)", "CoreML (NeuralNetwork)", "Dml", "MIGraphX", "Nnapi", "OpenVINO", "QNN",
        "Tensorrt", "WebGpu", "Xnnpack",
    }  # fmt: skip


def graph_of(element: int, opset: int = 17) -> Graph:
    nodes = (node("a", "Relu", ("x",), "ta"), node("b", "LayerNormalization", ("ta",), "tb"))
    infos = {"x": TensorInfo(element, (2, 3)), "ta": TensorInfo(element, (2, 3))}
    return Graph(nodes, ("x",), ("tb",), {}, infos, (("", opset),))


def takes(provider: str, graph: Graph) -> list[bool | None]:
    return [entry.takes for entry in predict(graph, provider).nodes]


def test_types_and_versions_count_where_a_table_tells_them() -> None:
    assert takes("dml", graph_of(1)) == [True, True]
    assert takes("DirectML", graph_of(11)) == [False, False]  # float64
    assert takes("webgpu", graph_of(1)) == [True, True]
    assert takes("webgpu", graph_of(1, opset=16)) == [True, False]  # taken from operator set 17 on
    assert takes("CoreML NeuralNetwork", graph_of(1)) == [True, False]  # a list that says it is complete
    assert takes("tensorrt", graph_of(1)) == [True, None]
    (_, second) = predict(graph_of(1, opset=16), "webgpu").nodes
    assert second.condition == "taken from operator set 17 on, and this is 16"


def test_sizes_that_a_profile_saw_are_used_where_the_graph_leaves_them_open() -> None:
    prediction = predict(graph_of(1), "CoreML NeuralNetwork", {"ta": 999})
    assert [(entry.tensor, entry.size_bytes) for entry in prediction.boundaries] == [("ta", 999)]
    assert prediction.boundary_bytes == 999
    assert predict(graph_of(1), "CoreML NeuralNetwork").boundary_bytes == 24


def scalar_graph(element: int = 7) -> Graph:
    """Float nodes with a Mod and a Sub of integer scalars between them, as in a Swin's padding."""
    nodes = (
        node("a", "Relu", ("x",), "ta"), node("b", "Erf", ("ta",), "tb"), node("c", "Sqrt", ("tb",), "tc"),
        node("gather", "Gather", ("tc", "i"), "s"), node("mod", "Mod", ("s", "seven"), "m"),
        node("sub", "Sub", ("seven", "m"), "d"), node("again", "Mod", ("d", "seven"), "n"),
        node("d", "Add", ("tc", "n"), "td"),
        node("e", "Relu", ("td",), "te"), node("f", "Erf", ("te",), "tf"),
    )  # fmt: skip
    scalar = TensorInfo(element, ())
    infos = {"x": TensorInfo(1, (2, 3)), "s": scalar, "m": scalar, "d": scalar, "n": scalar}
    return Graph(nodes, ("x",), ("tf",), {"seven": scalar, "i": TensorInfo(7, ())}, infos, (("", 17),))


def test_openvino_leaves_scalars_of_some_operators_and_lone_nodes_to_the_cpu() -> None:
    prediction = predict(scalar_graph(), "openvino")
    left = {entry.node: entry.condition for entry in prediction.nodes if not entry.takes}
    assert set(left) == {"mod", "sub", "again"}
    assert left["mod"] == "s is a scalar of int64, which it takes in few operators"
    assert left["sub"] == "a Sub that would be a part of its own stays on the CPU"
    assert prediction.partitions == 2


def test_a_graph_taken_whole_may_be_small() -> None:
    nodes = (node("a", "Relu", ("x",), "ta"),)
    whole = predict(Graph(nodes, ("x",), ("ta",), {}, {}), "openvino")
    assert [entry.takes for entry in whole.nodes] == [True]


def test_a_prediction_says_how_often_it_was_right() -> None:
    assert "nodes right" in str(predict(graph_of(1), "openvino"))
    assert "Never checked against a real run" in str(predict(graph_of(1), "nnapi"))
    frame = predict_all(graph_of(1)).to_frame().set_index("prediction_for")
    assert 0.9 < frame.share_right_in_checks["OpenVINO"] <= 1
    assert math.isnan(frame.share_right_in_checks["Nnapi"])


def test_recorded_checks_count_what_they_say() -> None:
    for check in recorded_checks():
        assert 0 < check.right <= check.nodes
        assert check.provider in {table.provider for table in support_tables()}


def placement_of(graph: Graph, cpu: set[str]) -> Placement:
    providers = {entry.key: CPU if entry.key in cpu else OPENVINO for entry in graph.nodes}
    part = units(graph, providers)
    return Placement(
        nodes=tuple(
            PlacedNode(
                entry.key, entry.op_type, providers[entry.key], part[entry.key], inserted=False, reason=None
            )
            for entry in graph.nodes
        ),
        boundaries=(), sources=(), requested=(OPENVINO,), in_effect=(OPENVINO, CPU), not_loaded=(),
        of_basic_graph=True,
    )  # fmt: skip


def test_a_prediction_is_set_beside_a_real_placement() -> None:
    graph = scalar_graph()
    check = compare_prediction(placement_of(graph, {"mod", "sub", "again"}), graph)
    assert (check.right, check.predicted_partitions, check.partitions) == (10, 2, 2)
    check = compare_prediction(placement_of(graph, {"mod", "sub", "again", "f"}), graph)
    assert [node.node for node in check.wrong] == ["f"]
    assert not check.to_frame().set_index("node").right["f"]
    assert "9 of 10 nodes ran where predicted" in str(check)
    assert "Erf" in check._repr_html_()


def test_a_session_on_the_cpu_has_no_prediction_to_compare() -> None:
    placement = replace(placement_of(scalar_graph(), set()), in_effect=(CPU,))
    with pytest.raises(ConfigError, match="CPU alone"):
        compare_prediction(placement, scalar_graph())


@pytest.mark.real
def test_all_providers_side_by_side(explained: Explain) -> None:
    predictions = predict_all(explained("conv").basic)
    frame = predictions.to_frame()
    assert set(frame.prediction_for) == {table.name for table in support_tables()}
    assert (frame.nodes + frame.unknown <= len(explained("conv").basic.nodes)).all()
    assert "nothing ran" in str(predictions)
    assert "nothing ran" in predictions._repr_html_()
    assert frame.nodes.is_monotonic_decreasing


@settings(max_examples=amount(100))
@given(drafts(), st.data())
def test_units_never_wait_for_each_other(draft: Draft, data: st.DataObject) -> None:
    graph = draft.graph()
    where = {number.key: data.draw(st.sampled_from((CPU, NPU))) for number in graph.nodes}
    unit = units(graph, where)
    for number in set(unit.values()):
        assert len({where[key] for key, number_of in unit.items() if number_of == number}) == 1
    waits = {
        (unit[graph.producers[name].key], unit[number.key])
        for number in graph.nodes
        for name in number.reads
        if name in graph.producers and unit[graph.producers[name].key] != unit[number.key]
    }
    left = set(unit.values())
    while free := {number for number in left if not any(b == number and a in left for a, b in waits)}:
        left -= free
    assert not left


def test_a_value_that_leaves_and_comes_back_makes_two_units() -> None:
    nodes = (
        node("a", "Relu", ("x",), "ta"),
        node("b", "Erf", ("ta",), "tb"),
        node("c", "Add", ("tb", "ta"), "tc"),
    )
    graph = Graph(nodes, ("x",), ("tc",), {}, {})
    unit = units(graph, {"a": NPU, "b": CPU, "c": NPU})
    assert len({unit["a"], unit["b"], unit["c"]}) == 3
