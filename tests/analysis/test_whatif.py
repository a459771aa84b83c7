"""Predictions: the tables are well-formed, unknown stays unknown, units can run one after the other."""

from __future__ import annotations

import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.analysis.conftest import Explain
from tests.analysis.graphs import Draft, drafts, node
from workbench.analysis.graph import Graph, TensorInfo
from workbench.analysis.placement import predict, predict_all, support_tables
from workbench.analysis.placement.partitions import units
from workbench.analysis.placement.support import NAMES, SupportTable

CPU, NPU = "CPUExecutionProvider", "NpuExecutionProvider"
OLD_NAMES = {  # of operators that ONNX dropped before its schemas were kept, or that ORT alone has
    "ATen", "Affine", "ConstantFill", "Crop", "DynamicSlice", "FusedConv", "ImageScaler",
    "ParametricSoftplus", "ScaledTanh", "SimplifiedLayerNormalization", "MemcpyFromHost", "MemcpyToHost",
    "Roialign",
}  # fmt: skip


def names() -> set[str]:
    return {one.name for one in onnx.defs.get_all_schemas_with_history() if one.domain == ""}


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
    return [one.takes for one in predict(graph, provider).nodes]


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
    told = predict(graph_of(1), "CoreML NeuralNetwork", {"ta": 999})
    assert [(one.tensor, one.size_bytes) for one in told.boundaries] == [("ta", 999)]
    assert told.boundary_bytes == 999
    assert predict(graph_of(1), "CoreML NeuralNetwork").boundary_bytes == 24


@pytest.mark.real
def test_all_providers_side_by_side(explained: Explain) -> None:
    told = predict_all(explained("conv").basic)
    frame = told.to_frame()
    assert set(frame.prediction_for) == {table.name for table in support_tables()}
    assert (frame.nodes + frame.unknown <= len(explained("conv").basic.nodes)).all()
    assert "nothing ran" in str(told)
    assert "nothing ran" in told._repr_html_()
    assert frame.nodes.is_monotonic_decreasing


@settings(max_examples=100)
@given(drafts(), st.data())
def test_units_never_wait_for_each_other(draft: Draft, data: st.DataObject) -> None:
    graph = draft.graph()
    where = {one.key: data.draw(st.sampled_from((CPU, NPU))) for one in graph.nodes}
    unit = units(graph, where)
    for number in set(unit.values()):
        assert len({where[key] for key, one in unit.items() if one == number}) == 1
    waits = {
        (unit[graph.producers[name].key], unit[one.key])
        for one in graph.nodes
        for name in one.reads
        if name in graph.producers and unit[graph.producers[name].key] != unit[one.key]
    }
    left = set(unit.values())
    while free := {one for one in left if not any(b == one and a in left for a, b in waits)}:
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
