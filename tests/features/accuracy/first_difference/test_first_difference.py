"""A planted difference is found at the node that makes it."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, helper, numpy_helper

import workbench as wb
from tests.core.models import tiny
from tests.core.prepare.test_optimizers import put
from workbench.core.text import share_of
from workbench.core.worker import computing, exposing, tensors
from workbench.core.worker.values import write_values
from workbench.features.accuracy.first_difference import POINTS, bisected
from workbench.features.accuracy.first_difference.record import FirstDifferenceRecord, TensorDifference

pytestmark = pytest.mark.real
LAYERS, WIDTH, AT = 12, 16, 7
Plant = Callable[[ModelProto], None]


def stack(layers: int = LAYERS) -> ModelProto:
    """Return layers of a product, a sum and an activation, which no pass fuses into one."""
    rng = np.random.default_rng(0)
    nodes, weights, value = [], [], "x"
    for at in range(layers):
        weights.append(numpy_helper.from_array(rng.normal(0, 0.25, (WIDTH, WIDTH)).astype("f4"), f"w{at}"))
        nodes.append(helper.make_node("MatMul", [value, f"w{at}"], [f"p{at}"], f"product{at}"))
        nodes.append(helper.make_node("Add", [f"p{at}", value], [f"s{at}"], f"sum{at}"))
        nodes.append(helper.make_node("Tanh", [f"s{at}"], [f"t{at}"], f"tanh{at}"))
        value = f"t{at}"
    tensor = helper.make_tensor_value_info
    ends = [tensor("x", 1, [4, WIDTH])], [tensor(value, 1, [4, WIDTH])]
    graph = helper.make_graph(nodes, "stack", *ends, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def cast(model: ModelProto) -> None:
    """Round one activation to float16."""
    nodes = list(model.graph.node)
    at = next(place for place, node in enumerate(nodes) if node.name == f"tanh{AT}")
    nodes[at].output[0] = "rounded"
    narrow = helper.make_node("Cast", ["rounded"], ["half"], "narrow", to=onnx.TensorProto.FLOAT16)
    wide = helper.make_node("Cast", ["half"], [f"t{AT}"], "wide", to=onnx.TensorProto.FLOAT)
    del model.graph.node[:]
    model.graph.node.extend([*nodes[: at + 1], narrow, wide, *nodes[at + 1 :]])


def one_channel(model: ModelProto) -> None:
    """Damage one channel of one weight."""
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == f"w{AT}")
    values = numpy_helper.to_array(weight).copy()
    values[:, 3] = 0
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))


def not_a_number(model: ModelProto) -> None:
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == f"w{AT}")
    values = numpy_helper.to_array(weight).copy()
    values[0, 0] = np.nan
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))


@pytest.mark.parametrize(
    ("plant", "tensor", "tolerance"),
    [(cast, f"t{AT}", 1e-5), (one_channel, f"p{AT}", 1e-3), (not_a_number, f"p{AT}", 1e-3)],
)
def test_the_node_that_is_to_blame_is_named(
    plant: Plant, tensor: str, tolerance: float, tmp_path: Path
) -> None:
    right, wrong = tmp_path / "right.onnx", tmp_path / "wrong.onnx"
    onnx.save(stack(), right)
    model = stack()
    plant(model)
    onnx.save(model, wrong)
    found = wb.first_difference(right, wrong, tolerance=tolerance)
    first = found.record.beyond[0]
    assert first.tensor == tensor
    assert first.node == {"t": f"tanh{AT}", "p": f"product{AT}"}[tensor[0]]
    assert (first.error is None) == (plant is not_a_number)
    assert found.record.origin == first
    assert (first.axis, first.channel) == ((1, 3) if plant is one_channel else (None, None))
    assert tensor in str(found)
    assert found.to_frame()["beyond"].sum() == len(found.record.beyond) < len(found.record.tensors)
    assert wb.open(found.save(tmp_path / "difference.ortbench")).record == found.record


def test_a_rewrite_that_is_wrong_in_one_channel_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package of this name stands in for the optimizer, which halves a column of a weight."""
    code = f"""from onnx import numpy_helper
def simplify(model):
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == "w{AT}")
    values = numpy_helper.to_array(weight).copy()
    values[:, 3] /= 2
    weight.CopyFrom(numpy_helper.from_array(values, weight.name))
    return model, True
"""
    put("onnxsim", code, tmp_path / "path", monkeypatch)
    onnx.save(stack(), tmp_path / "stack.onnx")
    found = wb.first_difference(tmp_path / "stack.onnx", wb.Config(), wb.Config(rewrites=("onnxsim",)))
    first = found.record.beyond[0]
    assert (first.node, first.axis, first.channel) == (f"product{AT}", 1, 3)


def test_constants_are_no_rows(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Constant", [], ["two"], "constant", value_float=2.0),
        helper.make_node("Mul", ["x", "two"], ["y"], "double"),
    ]
    model = tiny.model(nodes, [tiny.tensor("x", [2])], [tiny.tensor("y", [2])])
    found = wb.first_difference(tiny.save(model, tmp_path), wb.Config(), wb.Config(intra_op_threads=1))
    assert [(row.tensor, row.error) for row in found.record.tensors] == [("y", 0.0)]


def relu_pool_tanh() -> list[NodeProto]:
    """Return nodes with a dilated pool whose last window goes beyond the image: others since 1.21.0."""
    return [
        helper.make_node("Relu", ["x"], ["r"], "relu"),
        helper.make_node(
            "AveragePool", ["r"], ["p"], "pool",
            kernel_shape=[3, 3], strides=[3, 3], dilations=[2, 2], count_include_pad=1, ceil_mode=1,
        ),
        helper.make_node("Tanh", ["p"], ["y"], "tanh"),
    ]  # fmt: skip


def quantized(nodes: list[NodeProto]) -> list[NodeProto]:
    """Return the nodes with the output of the Relu rounded to int8."""
    relu, pool, *rest = nodes
    pool.input[0] = "r_DequantizeLinear_Output"
    around = ["scale", "zero"]
    return [
        helper.make_node("Constant", [], ["scale"], "scale", value_float=0.05),
        helper.make_node(
            "Constant", [], ["zero"], "zero", value=numpy_helper.from_array(np.array(0, np.int8))
        ),
        relu,
        helper.make_node("QuantizeLinear", ["r", *around], ["r_QuantizeLinear_Output"], "quantize"),
        helper.make_node(
            "DequantizeLinear", ["r_QuantizeLinear_Output", *around], [pool.input[0]], "restore"
        ),
        pool,
        *rest,
    ]


def image_model(nodes: list[NodeProto], path: Path) -> Path:
    """Save a model of one image."""
    model = tiny.model(nodes, [tiny.tensor("x", [1, 4, 31, 31])], [tiny.tensor("y", None)])
    onnx.save(model, path)
    return path


def test_the_node_that_another_version_computes_otherwise_is_found(old_ort: str, tmp_path: Path) -> None:
    model = image_model(relu_pool_tanh(), tmp_path / "pool.onnx")
    found = wb.first_difference(model, wb.Config(runtime=old_ort), wb.Config())
    assert [row.node for row in found.record.tensors] == ["relu", "pool", "tanh"]
    assert found.record.beyond[0].node == "pool"


def test_two_versions_that_agree_have_no_first_difference(old_ort: str) -> None:
    """The graphs that both save are compared, too, and the older environment lacks the package onnx."""
    found = wb.first_difference("digits-conv", wb.Config(runtime=old_ort), wb.Config())
    assert found.record.tensors
    assert found.record.beyond == ()


def test_the_same_rounding_in_two_versions_is_no_difference(old_ort: str, tmp_path: Path) -> None:
    model = image_model(quantized(relu_pool_tanh()), tmp_path / "int8.onnx")
    found = wb.first_difference(model, wb.Config(runtime=old_ort), wb.Config())
    errors = {row.node: row.error for row in found.record.tensors}
    assert errors["relu"] == errors["quantize"] == errors["restore"] == 0
    assert found.record.beyond[0].node == "pool"


@pytest.mark.parametrize("quantized_first", [False, True])
@pytest.mark.parametrize("old", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_tensor_that_one_file_quantizes_is_compared_as_the_next_node_reads_it(
    quantized_first: bool, old: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """The environment of each config computes the rounded tensor, too."""
    config = wb.Config(runtime=request.getfixturevalue("old_ort")) if old else wb.Config(intra_op_threads=1)
    nodes = (quantized(relu_pool_tanh()), relu_pool_tanh())
    first, second = (image_model(each, tmp_path / f"{len(each)}.onnx") for each in nodes)
    pair = (first, second) if quantized_first else (second, first)
    found = wb.first_difference((pair[0], config), (pair[1], wb.Config()), tolerance=1e-3)
    relu = next(row for row in found.record.tensors if row.node == "relu")
    assert 1e-3 < relu.error < 0.1
    assert found.record.beyond[0] == relu


def test_another_version_computes_a_model_with_weights_beside_it(old_ort: str, tmp_path: Path) -> None:
    path = tmp_path / "stack.onnx"
    onnx.save(stack(), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    found = wb.first_difference(path, wb.Config(runtime=old_ort), wb.Config())
    assert len(found.record.tensors) == 3 * LAYERS
    assert found.record.beyond == ()


def test_another_environment_writes_a_file_for_each_feed_and_one_is_read_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both jobs run here, to see what the reader allocates."""
    feeds = [{"x": np.full((4, 1000, WIDTH), at, np.float32)} for at in range(8)]
    names = ["x", *(f"r{at}" for at in range(8))]
    nodes = [helper.make_node("Relu", [before], [after]) for before, after in pairwise(names)]
    ends = [tiny.tensor(name, [4, 1000, WIDTH]) for name in (names[0], names[-1])]
    model = tiny.model(nodes, ends[:1], ends[1:])
    file, given, target = (str(tmp_path / name) for name in ("model.onnx", "feeds", "values"))
    onnx.save(exposing.exposed(tiny.save(model, tmp_path)), file)
    write_values(Path(given), feeds)
    monkeypatch.chdir(tmp_path)
    files = computing.run(file, str(tmp_path), given, target)["files"]
    tracemalloc.start()
    rows = tensors.run(file, file, [given] * 2, [files] * 2, None)["tensors"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert {row["name"]: row["noise"] for row in rows} == dict.fromkeys(names[1:], 0.0)
    assert len(files) == len(feeds)
    assert peak < sum(Path(name).stat().st_size for name in files)


def test_a_rounding_below_the_tolerance_is_said(tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.onnx", tmp_path / "wrong.onnx"
    onnx.save(stack(), right)
    model = stack()
    cast(model)
    onnx.save(model, wrong)
    found = wb.first_difference(right, wrong, tolerance=0.1)
    assert not found.record.beyond
    largest = max(tensor.error or 0.0 for tensor in found.record.tensors)
    assert 1e-5 < largest < 1e-2
    assert f"the largest error is {share_of(largest, 'the tensor')}" in str(found)
    assert found.record.origin == next(row for row in found.record.tensors if row.node == f"tanh{AT}")
    assert f"at t{AT} of Tanh tanh{AT}" in str(found)


def with_a_fault(plant: Plant, folder: Path) -> tuple[Path, Path]:
    """Save a model of 999 nodes, and one with a planted fault."""
    right, wrong = folder / "right.onnx", folder / "wrong.onnx"
    model = stack(333)
    onnx.save(model, right)
    plant(model)
    onnx.save(model, wrong)
    return right, wrong


def test_in_a_thousand_nodes_a_rounding_is_found_at_the_usual_tolerance(tmp_path: Path) -> None:
    """A damaged channel is found so, too: the search by bisection is compared with that of the whole."""
    origin = wb.first_difference(*with_a_fault(cast, tmp_path)).record.origin
    assert origin is not None
    assert origin.node == f"tanh{AT}"


@pytest.mark.parametrize(
    ("plant", "node", "tolerance"),
    [(cast, f"tanh{AT}", 1e-3), (one_channel, f"product{AT}", None), (not_a_number, f"product{AT}", None)],
)
def test_a_large_model_is_searched_by_bisection_with_few_tensors_in_view(
    plant: Plant, node: str, tolerance: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Models of 1,000 nodes, which stand for large ones, with one difference in their 22nd to 24th."""
    right, wrong = with_a_fault(plant, tmp_path)
    whole = wb.first_difference(right, wrong, tolerance=tolerance).record
    monkeypatch.setattr("workbench.features.accuracy.first_difference.MOST_FILE_BYTES", 1000)
    found = wb.first_difference(right, wrong, tolerance=tolerance)
    record = found.record
    assert record.origin is not None
    assert record.origin == whole.origin
    assert record.origin.node == node
    assert record.beyond[:1] == whole.beyond[:1]
    assert len(record.tensors) <= 5 * POINTS < len(whole.tensors) == 999
    assert f"by bisection: {len(record.tensors)} of 999 tensors in view" in str(found)


@pytest.mark.parametrize("at", [0, 1, 15, 16, 17, 499, 998])
def test_a_step_of_the_bisection_has_a_bounded_number_of_tensors_in_view(at: int) -> None:
    names, steps = [f"t{place}" for place in range(999)], list[int]()

    def seen(chosen: list[str]) -> list[TensorDifference]:
        steps.append(len(chosen))
        places = {name: int(name[1:]) for name in chosen}
        return [TensorDifference(name, name, "Add", 0.1 * (place >= at)) for name, place in places.items()]

    rows = bisected(names, names[-1:], seen, 1e-3)
    assert next(row.tensor for row in rows if row.error) == f"t{at}"
    assert max(steps) <= POINTS + 1
    assert len(steps) <= 3
    steps.clear()
    assert len(bisected(names, [], lambda chosen: [row for row in seen(chosen) if False], 1e-3)) == 0
    assert len(steps) == 1, "nothing could be compared, so there is nothing between"


def test_a_wrong_output_beside_the_others_is_found_by_bisection() -> None:
    names = [f"t{place}" for place in range(3000)]

    def seen(chosen: list[str]) -> list[TensorDifference]:
        return [TensorDifference(name, name, "Add", 0.1 * (name in ("t1401", "t1402"))) for name in chosen]

    rows = bisected(names, ["t1402", "t2999"], seen, 1e-3)
    assert [row.tensor for row in rows if row.error] == ["t1401", "t1402"]


def test_an_error_that_grows_is_traced_to_where_it_jumps() -> None:
    errors = (0.0, 2e-7, 4e-4, 8e-4, 2e-3, 5e-3)
    rows = tuple(TensorDifference(f"t{at}", f"n{at}", "Add", error) for at, error in enumerate(errors))
    record = FirstDifferenceRecord("net", ("A", "B"), 1e-3, rows, len(rows), None, ())
    assert (record.beyond[0], record.origin) == (rows[4], rows[2])
    assert "the first difference is t4 of Add n4: error 0.2" in str(record)
    assert "it comes from t2 of Add n2, where the error jumps to 0.04" in str(record)
    grown = replace(record, tensors=tuple(replace(row, error=2.0**at * 1e-6) for at, row in enumerate(rows)))
    assert grown.origin is None


def test_configs_that_agree_have_no_first_difference() -> None:
    found = wb.first_difference("digits-conv", wb.Config(level="disabled"), wb.Config(level="extended"))
    assert found.record.beyond == ()
    assert "no tensor differs by more than 0.001" in str(found)
    assert found.record.culprit is None


def test_int8_errs_along_the_graph() -> None:
    found = wb.first_difference(
        "digits-conv", wb.Config(), wb.Config(precision=wb.DynamicInt8()), tolerance=1e-3
    )
    assert found.record.beyond[0].error > 0.001
    assert len(found.chart().rows) <= 30


def test_a_provider_that_saves_no_graph_is_refused() -> None:
    with pytest.raises(wb.WorkbenchError, match="other engines and providers save none"):
        wb.first_difference("digits-conv", wb.Config(), wb.Config(providers=["cuda", "cpu"]))


def test_the_pass_that_makes_the_difference_is_found_and_a_comparison_asks_too() -> None:
    configs = wb.Config(level="extended"), wb.Config(level="all")
    result = wb.compare("digits-conv", *configs, budget_s=0.2, progress=False, keep=False)
    found = result.first_difference(tolerance=1e-12)
    assert found.record.culprit == "NchwcTransformer"
    assert "without the pass NchwcTransformer the outputs agree" in str(found)
    with pytest.raises(wb.ConfigError, match="there is no run 'C'\nFix: name one of B"):
        result.first_difference("C")
    result.examine("explanation")
    assert not any(row.error for pane in result.graph().panes for row in pane.rows)
    result.add(found)
    by_node = [row.error for row in result.graph(color="error").panes[1].rows if row.kind == "node"]
    assert "over ten times the tolerance" in by_node


def test_float16_is_compared_at_every_node_within_its_own_error(tmp_path: Path) -> None:
    """ORT renames tensors around the casts that it puts into a graph of 16-bit floats."""
    model = stack()
    weight = next(tensor for tensor in model.graph.initializer if tensor.name == f"w{AT}")
    weight.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weight) * np.float32(1e-7), weight.name))
    onnx.save(model, tmp_path / "small.onnx")
    found = wb.first_difference(tmp_path / "small.onnx", wb.Config(), wb.Config(precision=wb.Float16()))
    assert found.record.tolerance == pytest.approx(0.01)
    assert len(found.record.tensors) == 3 * LAYERS
    assert found.record.beyond[0].node == f"product{AT}"


@pytest.mark.slow
def test_a_relu_that_the_quantizer_removed_is_compared_after_the_clipping(tmp_path: Path) -> None:
    """The quantizer gives the output of the Conv the name of the Relu whose clipping QuantizeLinear does."""
    rng = np.random.default_rng(0)
    weight = numpy_helper.from_array(rng.normal(0, 0.3, (8, 3, 3, 3)).astype("f4"), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["r"], "relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["y"], "pool"),
    ]
    ends = [
        helper.make_tensor_value_info(name, 1, shape) for name, shape in (("x", [1, 3, 8, 8]), ("y", None))
    ]
    graph = helper.make_graph(nodes, "relu", ends[:1], ends[1:], [weight])
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
        tmp_path / "relu.onnx",
    )
    found = wb.first_difference(tmp_path / "relu.onnx", wb.Config(), wb.Config(precision=wb.StaticInt8()))
    relu = next(row for row in found.record.tensors if row.tensor == "r")
    assert (relu.node, relu.op_type) == ("relu", "Relu")
    assert 0 < relu.error < 0.05
    assert found.record.beyond == ()
