"""Rewrites of patterns and of whole operators: outputs stay, and what only looks alike stays too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from benchmarks.flaws import in_files, in_operators
from benchmarks.flaws.flaw import Planted
from tests.core.prepare.test_rewrites import check_same, model_of, op_types, run, tensor
from tests.core.prepare.test_script import run_the_script
from workbench.core.rewrites.activations import fuse_gelus
from workbench.core.rewrites.channels import pad_channels
from workbench.core.rewrites.constants import store_constants
from workbench.core.rewrites.loops import unroll_loops
from workbench.core.rewrites.norms import fold_batch_norms, fuse_layer_norms
from workbench.core.rewrites.products import keep_last_logits, spell_einsums_out

pytestmark = pytest.mark.real
Rewrite = Callable[[onnx.ModelProto], int]


@pytest.mark.parametrize(
    ("plant", "rewrite", "applied", "gone"),
    [
        (in_operators.einsum, spell_einsums_out, 2, "Einsum"),
        (in_operators.loop, unroll_loops, 1, "Loop"),
        (in_operators.half_first_gelu, fuse_gelus, 2, "Erf"),
        (in_operators.tanh_gelu, fuse_gelus, 2, "Tanh"),
        (in_operators.spelled_layer_norm, fuse_layer_norms, 4, "ReduceMean"),
        (in_operators.odd_channels, pad_channels, 6, ""),
        (in_files.attributes, store_constants, 1, "Constant"),
    ],
)
def test_a_planted_flaw_goes_and_the_outputs_stay(
    plant: Callable[[int], Planted], rewrite: Rewrite, applied: int, gone: str
) -> None:
    model = plant(0).model
    feed = {"x": np.random.default_rng(0).standard_normal(_dims(model)).astype(np.float32)}
    before = run(model, feed)
    assert rewrite(model) == applied
    onnx.checker.check_model(model, full_check=True)
    for first, second in zip(before, run(model, feed), strict=True):
        np.testing.assert_allclose(second, first, rtol=1e-4, atol=1e-4)
    assert gone not in op_types(model)
    assert rewrite(model) == 0, "the second time nothing is left"


def erf_gelu(x: str = "x", y: str = "y") -> list[onnx.NodeProto]:
    """A Gelu with its half first, of the numbers `root`, `one` and `half`."""
    return [
        helper.make_node("Div", [x, "root"], ["d"]),
        helper.make_node("Erf", ["d"], ["e"]),
        helper.make_node("Add", ["e", "one"], ["a"]),
        helper.make_node("Mul", ["half", "a"], ["m"]),
        helper.make_node("Mul", ["m", x], [y]),
    ]


def _dims(model: onnx.ModelProto) -> list[int]:
    return [dim.dim_value for dim in model.graph.input[0].type.tensor_type.shape.dim]


def test_every_input_channel_is_a_multiple_of_four_afterwards() -> None:
    model = in_operators.odd_channels(2).model
    pad_channels(model)
    weights = {weight.name: weight.dims for weight in model.graph.initializer}
    convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
    assert all(weights[node.input[1]][1] % 4 == 0 for node in convolutions[1:])


def test_declared_types_of_grown_tensors_leave_the_file() -> None:
    model = onnx.shape_inference.infer_shapes(in_operators.odd_channels(2).model)
    assert pad_channels(model) == 8
    onnx.checker.check_model(model, full_check=True)


def test_sums_around_convolutions_grow_but_not_the_output() -> None:
    model = in_operators.odd_channels(1).model
    assert pad_channels(model) == 5
    assert model.graph.output[0].type.tensor_type.shape.dim[1].dim_value == 45


def test_grouped_convolutions_and_outputs_keep_their_channels() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"]),
        helper.make_node("Conv", ["a", "g"], ["y"], group=9),
    ]
    weights = [tensor("w", 9, 3, 1, 1), tensor("g", 9, 1, 1, 1)]
    check_same(model_of(nodes, weights, [1, 3, 4, 4]), pad_channels, 0)
    nodes[1] = helper.make_node("Conv", ["a", "v"], ["y"])
    weights[1] = tensor("v", 4, 9, 1, 1)
    check_same(model_of(nodes, weights, [1, 3, 4, 4], outputs=["y", "a"]), pad_channels, 0)


def test_channels_grow_through_a_normalization() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["a"]),
        helper.make_node("BatchNormalization", ["a", "s", "b", "b", "s"], ["n"]),
        helper.make_node("Sigmoid", ["n"], ["r"]),
        helper.make_node("Conv", ["r", "v"], ["y"]),
    ]
    weights = [tensor("w", 9, 3, 1, 1), tensor("b", 9), tensor("s", 9, value=1.5), tensor("v", 4, 9, 1, 1)]
    check_same(model_of(nodes, weights, [1, 3, 4, 4]), pad_channels, 3)


@pytest.mark.parametrize(
    "equation",
    ["bij,bjk->bik", "bij,jk->bik", "bhid,bhjd->bhij", "bhij,bhjd->bihd", "jb,bi->ij", "ij,jk->ki"],
)
def test_products_of_einsum_in_any_order(equation: str) -> None:
    sizes = dict(zip("bhijkd", (2, 3, 4, 5, 6, 7), strict=True))
    first, second = equation.partition("->")[0].split(",")
    dims = [sizes[label] for label in first]
    weight = tensor("w", *[sizes[label] for label in second])
    node = helper.make_node("Einsum", ["x", "w"], ["y"], "sum", equation=equation)
    model = model_of([node], [weight], dims, rank=len(equation.partition("->")[2]))
    check_same(model, spell_einsums_out, 1)
    assert "Einsum" not in op_types(model)


@pytest.mark.parametrize("equation", ["ii,ij->ij", "ij,jk->i", "bij,bij->b", "ij,kl->ijkl"])
def test_other_sums_of_einsum_stay(equation: str) -> None:
    second = equation.partition("->")[0].split(",")[1]
    dims = [3] * len(equation.partition(",")[0])
    node = helper.make_node("Einsum", ["x", "w"], ["y"], equation=equation)
    model = model_of([node], [tensor("w", *[3] * len(second))], dims, rank=len(equation.partition("->")[2]))
    check_same(model, spell_einsums_out, 0)


def test_a_loop_with_a_state_stays() -> None:
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), helper.make_node("Tanh", ["s"], ["t"])],
        "body",
        [
            value("i", TensorProto.INT64, []),
            value("go", TensorProto.BOOL, []),
            value("s", TensorProto.FLOAT, [2, 4]),
        ],
        [value("on", TensorProto.BOOL, []), value("t", TensorProto.FLOAT, [2, 4])],
    )
    constants = [
        numpy_helper.from_array(np.array(3, np.int64), "n"),
        numpy_helper.from_array(np.array(True), "always"),
    ]
    node = helper.make_node("Loop", ["n", "always", "x"], ["y"], body=body)
    check_same(model_of([node], constants), unroll_loops, 0)


def _loop(
    operator: str, value: float, result: str, step: list[int], *, stored: bool = False
) -> onnx.NodeProto:
    """A Loop over the rows of x, whose body has a constant c of its own."""
    info, constant = helper.make_tensor_value_info, tensor("c", 1, value=value)
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["on"]),
            helper.make_node("Gather", ["x", "i"], ["row"], axis=0),
            *([] if stored else [helper.make_node("Constant", [], ["c"], value=constant)]),
            helper.make_node(operator, ["row", "c"], ["made"]),
        ],
        "body",
        [info("i", TensorProto.INT64, step), info("go", TensorProto.BOOL, [])],
        [info("on", TensorProto.BOOL, []), info("made", TensorProto.FLOAT, None)],
        [constant] if stored else [],
    )
    return helper.make_node("Loop", ["n", ""], [result], body=body)


@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize(("second", "applied"), [("Add", 2), ("PRelu", 1)])
def test_loops_whose_constants_have_the_same_name_keep_their_own(
    second: str, applied: int, stored: bool
) -> None:
    loops = [_loop("Add", 1.0, "y", [], stored=stored), _loop(second, 9.0, "z", [], stored=stored)]
    steps = [numpy_helper.from_array(np.array(2, np.int64), "n")]
    check_same(model_of(loops, steps, outputs=("y", "z")), unroll_loops, applied)


@pytest.mark.parametrize("value", [{"value_float": 0.5}, {"value_floats": [0.5]}])
def test_a_constant_without_a_tensor_is_the_half_of_a_gelu(value: dict[str, Any]) -> None:
    nodes = [helper.make_node("Constant", [], ["half"], **value), *erf_gelu()]
    check_same(model_of(nodes, [tensor("root", value=2**0.5), tensor("one", value=1)]), fuse_gelus, 1)


def test_a_loop_whose_step_is_a_row_of_one_number_stays() -> None:
    steps = [numpy_helper.from_array(np.array(2, np.int64), "n")]
    check_same(model_of([_loop("Add", 1.0, "y", [1])], steps, rank=3), unroll_loops, 0)


def test_a_gelu_whose_part_is_read_elsewhere_stays() -> None:
    planted = in_operators.half_first_gelu(0).model
    erf = next(node for node in planted.graph.node if node.op_type == "Erf")
    planted.graph.output.append(helper.make_tensor_value_info(erf.output[0], TensorProto.FLOAT, None))
    assert fuse_gelus(planted) == 1, "the one of the other layer"


def test_an_older_file_gets_the_operators_of_onnx_runtime() -> None:
    weights = [tensor("root", value=2**0.5), tensor("one", value=1), tensor("half", value=0.5)]
    model = model_of(erf_gelu(), weights)
    check_same(model, fuse_gelus, 1)
    assert [(node.domain, node.op_type) for node in model.graph.node] == [("com.microsoft", "Gelu")]


def test_a_gelu_in_float16_is_fused() -> None:
    half = [
        numpy_helper.from_array(np.array(value, np.float16), name)
        for name, value in (("root", 2**0.5), ("one", 1), ("half", 0.5))
    ]
    erf = [
        helper.make_node("Cast", ["x"], ["h"], to=TensorProto.FLOAT16),
        *erf_gelu("h", "g"),
        helper.make_node("Cast", ["g"], ["y"], to=TensorProto.FLOAT),
    ]
    fused = model_of(erf, half, opset=20)
    assert fuse_gelus(fused) == 1
    values = np.linspace(-4, 4, 8, dtype=np.float32).reshape(2, 4)
    expected = run(model_of(erf, half, opset=20), {"x": values})[0]
    np.testing.assert_allclose(run(fused, {"x": values})[0], expected, atol=0.01)


def test_a_gelu_whose_constant_adds_a_dimension_stays() -> None:
    nodes = [
        *erf_gelu()[:3],
        helper.make_node("Mul", ["x", "a"], ["m"]),
        helper.make_node("Mul", ["m", "half"], ["y"]),
    ]
    weights = [tensor("root", value=2**0.5), tensor("one", value=1), tensor("half", 1, 1, 1, value=0.5)]
    check_same(model_of(nodes, weights, rank=3), fuse_gelus, 0)


def test_a_gelu_of_tanh_as_tf2onnx_writes_it_is_fused() -> None:
    """The cube is a product of three, and a folded constant has as many dims as x."""
    steps = [("Mul", "cubic", "x"), ("Mul", "x", "t0"), ("Mul", "x", "t1"), ("Add", "x", "t2"),
             ("Mul", "root", "t3"), ("Tanh", "t4"), ("Add", "one", "t5"), ("Mul", "half", "t6"),
             ("Mul", "x", "t7")]  # fmt: skip
    nodes = [
        helper.make_node(op_type, list(inputs), ["y" if place == 8 else f"t{place}"])
        for place, (op_type, *inputs) in enumerate(steps)
    ]
    numbers = {"cubic": 0.044715, "root": (2 / np.pi) ** 0.5, "half": 0.5}
    weights = [tensor("one", 1, 1, 1, value=1), *(tensor(name, value=numbers[name]) for name in numbers)]
    model = model_of(nodes, weights, (2, 3, 4))
    check_same(model, fuse_gelus, 1)
    assert op_types(model) == ["FastGelu"]


def test_a_long_product_is_no_part_of_a_gelu() -> None:
    names = ["x", *(f"p{place}" for place in range(2000))]
    nodes = [helper.make_node("Mul", [name, "one"], [names[at + 1]]) for at, name in enumerate(names[:-1])]
    nodes.append(helper.make_node("Tanh", [names[-1]], ["y"]))
    check_same(model_of(nodes, [tensor("one", value=1)]), fuse_gelus, 0)


def test_a_layer_norm_with_its_scale_and_bias() -> None:
    nodes = [
        helper.make_node("ReduceMean", ["x"], ["m"], axes=[-1]),
        helper.make_node("Sub", ["x", "m"], ["c"]),
        helper.make_node("Mul", ["c", "c"], ["q"]),
        helper.make_node("ReduceMean", ["q"], ["v"], axes=[-1]),
        helper.make_node("Add", ["eps", "v"], ["w"]),
        helper.make_node("Sqrt", ["w"], ["r"]),
        helper.make_node("Div", ["c", "r"], ["n"]),
        helper.make_node("Mul", ["n", "scale"], ["s"]),
        helper.make_node("Add", ["s", "bias"], ["y"]),
    ]
    weights = [tensor("eps", value=1e-5), tensor("scale", 4), tensor("bias", 4)]
    model = model_of(nodes, weights)
    check_same(model, fuse_layer_norms, 1)
    assert op_types(model) == ["LayerNormalization"]
    nodes[0] = helper.make_node("ReduceMean", ["x"], ["m"], axes=[0])
    check_same(model_of(nodes, weights), fuse_layer_norms, 0)
    nodes[0] = helper.make_node("ReduceMean", ["x"], ["m"], axes=[-1])
    weights[0] = tensor("eps", 1, 1, 1, value=1e-5)
    check_same(model_of(nodes, weights, rank=3), fuse_layer_norms, 0)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("pads", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_batch_norm_beside_a_convolution_is_folded_where_it_may_be(before: bool, pads: list[int]) -> None:
    weights = [tensor("w", 4, 4, 3, 3), tensor("s", 4, value=1.5), tensor("b", 4), tensor("v", 4, value=0.7)]
    chain = [("BatchNormalization", ["s", "b", "b", "v"], {}), ("Conv", ["w"], {"pads": pads})]
    nodes, last = [], "x"
    for place, (op_type, constants, attributes) in enumerate(chain if before else reversed(chain)):
        made = "y" if place else "a"
        nodes.append(helper.make_node(op_type, [last, *constants], [made], **attributes))
        last = made
    applied = 0 if before and any(pads) else 1
    check_same(model_of(nodes, weights, [1, 4, 8, 8]), fold_batch_norms, applied)


def test_batch_norm_of_single_elements_stays() -> None:
    parameters = [tensor(name, 4, 8, 8, value=value) for name, value in (("s", 1.5), ("b", 0.2), ("v", 0.7))]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("BatchNormalization", ["c", "s", "b", "b", "v"], ["y"], spatial=0),
    ]
    model = model_of(nodes, [tensor("w", 4, 4, 1, 1), *parameters], [1, 4, 8, 8], opset=8)
    assert fold_batch_norms(model) == 0


def test_logits_of_the_last_position_are_those_of_the_whole() -> None:
    model = in_operators.logits(0).model
    feed = {"x": np.random.default_rng(0).standard_normal(_dims(model)).astype(np.float32)}
    (whole,) = run(model, feed)
    assert keep_last_logits(model) == 1
    onnx.checker.check_model(model, full_check=True)
    (last,) = run(model, feed)
    np.testing.assert_allclose(last, whole[:, -1:], rtol=1e-4, atol=1e-4)


def test_the_script_of_the_patterns_does_the_same(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    onnx.save(in_operators.half_first_gelu(0).model, path)
    prepared = wb.prepare(path, wb.Config(rewrites=("gelu-to-one-node", "loop-to-product")))
    assert prepared.steps[0].did == "loop-to-product applies nowhere, gelu-to-one-node applied 2 times"
    feed = {"x": np.random.default_rng(0).standard_normal((1, 64, 128)).astype(np.float32)}
    run_the_script(prepared, feed, tmp_path)
