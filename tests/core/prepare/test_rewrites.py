"""Model rewrites: where each applies the outputs stay, and elsewhere the model stays."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import workbench as wb
from tests.amount import amount
from tests.core.prepare.test_script import run_the_script
from workbench.core.config.embedding import embedded
from workbench.core.measure.tolerance import least_sqnr_db
from workbench.core.rewrites import catalogue
from workbench.core.rewrites.casts import remove_cast_pairs
from workbench.core.rewrites.constants import take_weights_out_of_inputs
from workbench.core.rewrites.convolutions import widen_convolutions
from workbench.core.rewrites.functions import inline_functions
from workbench.core.rewrites.graphs import graphs
from workbench.core.rewrites.powers import spell_powers_out
from workbench.core.rewrites.reflections import spell_reflections_out
from workbench.core.rewrites.weights import (
    remove_unused_weights,
    set_denormals_to_zero,
    share_duplicated_weights,
)

Rewrite = Callable[[onnx.ModelProto], int]
RANDOM = np.random.default_rng(7)


def tensor(name: str, *dims: int, value: Any = None) -> onnx.TensorProto:
    array = RANDOM.standard_normal(dims) if value is None else np.full(dims, value)
    return numpy_helper.from_array(array.astype(np.float32), name)


def model_of(
    nodes: Sequence[onnx.NodeProto],
    weights: Sequence[onnx.TensorProto],
    dims: Sequence[int | str | None] = (2, 4),
    *,
    opset: int = 17,
    outputs: Sequence[str] = ("y",),
    as_inputs: Sequence[str] = (),
    rank: int | None = None,
) -> onnx.ModelProto:
    """A model from x to y; weights named in `as_inputs` are inputs too."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)]
    inputs += [
        helper.make_tensor_value_info(w.name, w.data_type, w.dims) for w in weights if w.name in as_inputs
    ]
    anything = [None] * (rank or len(dims))
    results = [helper.make_tensor_value_info(name, TensorProto.FLOAT, anything) for name in outputs]
    graph = helper.make_graph(nodes, "net", inputs, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    options = ort.SessionOptions()
    options.log_severity_level = 3
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return list(session.run(None, feed))


def check_same(model: onnx.ModelProto, rewrite: Rewrite, applied: int, *, positive: bool = False) -> None:
    """The rewrite applies this often, and the outputs stay."""
    dims = [dim.dim_value or 3 for dim in model.graph.input[0].type.tensor_type.shape.dim]
    values = RANDOM.standard_normal(dims).astype(np.float32)
    feed = {"x": np.abs(values) + 0.1 if positive else values}
    before = run(model, feed)
    original = model.SerializeToString(deterministic=True)
    assert rewrite(model) == applied
    onnx.checker.check_model(model, full_check=True)
    for first, second in zip(before, run(model, feed), strict=True):
        np.testing.assert_allclose(second, first, rtol=1e-5, atol=1e-5)
        assert first.shape == second.shape
    if not applied:
        assert model.SerializeToString(deterministic=True) == original


def op_types(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for graph in graphs(model) for node in graph.node]


def in_branches(body: list[onnx.NodeProto], dims: Sequence[int]) -> list[onnx.NodeProto]:
    """An If whose branches both hold the nodes, from x to y."""
    branches = {}
    for branch in ("then_branch", "else_branch"):
        result = helper.make_tensor_value_info("inner", TensorProto.FLOAT, dims)
        nodes = [*body, helper.make_node("Identity", [body[-1].output[0]], ["inner"])]
        branches[branch] = helper.make_graph(nodes, branch, [], [result])
    return [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Cast", ["sum"], ["chosen"], to=TensorProto.BOOL),
        helper.make_node("If", ["chosen"], ["y"], **branches),
    ]


def test_the_catalogue_has_a_function_for_each_name() -> None:
    for rewrite in catalogue.REWRITES:
        function = rewrite.load()
        assert f"{function.__module__}.{function.__name__}" == f"workbench.core.rewrites.{rewrite.function}"


def test_all_sources_fit_into_one_script() -> None:
    """With those of the other steps: no name has two meanings."""
    jobs = "workbench.core.worker.preparing"
    imports, code = embedded(
        [
            *(f"workbench.core.rewrites.{rewrite.function}" for rewrite in catalogue.REWRITES),
            *(f"{jobs}.conversions.{name}" for name in ("fuse", "preprocess", "quantize_calibrated", "fold")),
            *(f"{jobs}.conversions.{name}" for name in ("quantize_at_run_time", "quantize_weights")),
            f"{jobs}.float16.to_float16",
        ]
    )
    assert "workbench" not in "".join((*imports, code))
    assert len(defined_in(code)) == len(set(defined_in(code)))


def test_a_script_defines_only_what_a_rewrite_needs() -> None:
    imports, code = embedded(["workbench.core.rewrites.weights.remove_unused_weights"])
    assert imports == [
        *("from collections.abc import Iterable, Iterator", "from collections import Counter", "import onnx"),
        "from typing import Any",
    ]
    assert defined_in(code) == [
        *("graphs", "bodies_inside", "attributes", "_bodies", "reads_of", "names_read", "remove_named"),
        *("remove_unused_weights", "_remove_initializers"),
    ]


def defined_in(code: str) -> list[str]:
    definitions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    targets = [node.targets[0] for node in ast.parse(code).body if isinstance(node, ast.Assign)]
    return [*(node.name for node in definitions), *(ast.unparse(target) for target in targets)]


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(wb.ConfigError, match="conv1d-to-2d"):
        wb.Config(rewrites=("conv1d-to-2",))


def test_names_stand_in_the_order_in_which_they_are_applied() -> None:
    config = wb.Config(rewrites=("unused-weights-removed", "weights-out-of-inputs", "unused-weights-removed"))
    assert config.rewrites == ("weights-out-of-inputs", "unused-weights-removed")
    assert config.changes_model
    assert config.session_config == wb.Config()


def test_the_names_have_every_form_of_a_knob() -> None:
    config = wb.Config(rewrites=("power-spelled-out", "conv1d-to-2d"))
    assert wb.Config.from_dict(config.to_dict()) == config
    assert wb.Config.from_assignments(["rewrites=conv1d-to-2d,power-spelled-out"]) == config
    assert eval(repr(config), {"Config": wb.Config}) == config
    words = "model rewrites (power-spelled-out, conv1d-to-2d instead of none)"
    assert words in str(wb.Config().diff(config))


def test_outputs_are_judged_at_the_bound_of_a_float_rewrite() -> None:
    config = wb.Config(rewrites=("conv1d-to-2d",))
    assert least_sqnr_db(config, None) == 60
    assert least_sqnr_db(config.replace(precision=wb.DynamicInt8()), None) == wb.DynamicInt8.LEAST_SQNR_DB
    assert least_sqnr_db(wb.Config(), None) is None


# Weights that are inputs


@pytest.mark.real
def test_weights_leave_the_inputs() -> None:
    model = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [tensor("w", 4, 3)], as_inputs=["w"])
    model.ir_version = 3
    check_same(model, take_weights_out_of_inputs, 1)
    assert [value.name for value in model.graph.input] == ["x"]
    assert model.ir_version == 4


@pytest.mark.real
def test_inputs_without_values_stay() -> None:
    check_same(model_of([helper.make_node("Relu", ["x"], ["y"])], []), take_weights_out_of_inputs, 0)


# Powers


@pytest.mark.real
@pytest.mark.parametrize(
    ("exponent", "operators"),
    [
        (0.5, ["Sqrt"]),
        (-0.5, ["Sqrt", "Reciprocal"]),
        (1.0, ["Identity"]),
        (-1.0, ["Reciprocal"]),
        (4.0, ["Mul", "Mul"]),
    ],
)
@pytest.mark.parametrize("name", ["", "pow"])
def test_a_simple_power_is_spelled_out(exponent: float, operators: list[str], name: str) -> None:
    model = model_of([helper.make_node("Pow", ["x", "e"], ["y"], name)], [tensor("e", value=exponent)])
    check_same(model, spell_powers_out, 1, positive=True)
    assert op_types(model) == operators
    assert model.graph.node[-1].name == name


@pytest.mark.real
@pytest.mark.parametrize("value", ["attribute", "tensor"])
def test_a_constant_node_holds_the_exponent(value: str) -> None:
    half = {"value_float": 0.5} if value == "attribute" else {"value": tensor("half", value=0.5)}
    nodes = [helper.make_node("Constant", [], ["e"], **half), helper.make_node("Pow", ["x", "e"], ["y"])]
    model = model_of(nodes, [])
    check_same(model, spell_powers_out, 1, positive=True)


@pytest.mark.real
def test_a_power_in_a_branch_reads_a_constant_outside() -> None:
    nodes = in_branches([helper.make_node("Pow", ["x", "e"], ["p"])], (2, 4))
    model = model_of(nodes, [tensor("e", value=-0.5)])
    check_same(model, spell_powers_out, 2, positive=True)
    assert "Pow" not in op_types(model)


@pytest.mark.real
@pytest.mark.parametrize(
    "model",
    [
        model_of([helper.make_node("Pow", ["x", "e"], ["y"])], [tensor("e", value=2.0)]),
        model_of([helper.make_node("Pow", ["x", "e"], ["y"])], [tensor("e", value=0.5)], as_inputs=["e"]),
        model_of([helper.make_node("Pow", ["x", "e"], ["y"])], [tensor("e", 4, value=0.5)]),
        model_of([helper.make_node("Pow", ["x", "e"], ["y"])], [tensor("e", 1, 1, 1, value=0.5)], rank=3),
        model_of(
            [
                helper.make_node("Cast", ["x"], ["i"], to=TensorProto.INT32),
                helper.make_node("Pow", ["i", "e"], ["p"]),
                helper.make_node("Cast", ["p"], ["y"], to=TensorProto.FLOAT),
            ],
            [tensor("e", value=0.5)],
        ),
    ],
    ids=["kernel of its own", "replaceable", "vector", "more dimensions", "integers"],
)
def test_other_powers_stay(model: onnx.ModelProto) -> None:
    check_same(model, spell_powers_out, 0, positive=True)


@pytest.mark.real
def test_a_power_inside_of_a_function_stays() -> None:
    nodes = [
        helper.make_node("Constant", [], ["e"], value_float=0.5),
        helper.make_node("Pow", ["a", "e"], ["b"]),
    ]
    opsets = [helper.make_opsetid("", 17)]
    function = helper.make_function("own", "root", ["a"], ["b"], nodes, opsets)
    model = model_of([helper.make_node("root", ["x"], ["y"], domain="own")], [])
    model.opset_import.append(helper.make_opsetid("own", 1))
    model.functions.append(function)
    check_same(model, spell_powers_out, 0, positive=True)


# Convolutions


@pytest.mark.real
@pytest.mark.parametrize("opset", [11, 17])
@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"pads": [1, 2], "strides": [2], "kernel_shape": [3]},
        {"dilations": [2], "group": 2},
        {"auto_pad": "SAME_LOWER", "strides": [2]},
    ],
    ids=["plain", "pads", "group", "auto_pad"],
)
def test_a_convolution_gets_a_height(attributes: dict[str, Any], opset: int) -> None:
    weights = [tensor("w", 6, 4 // attributes.get("group", 1), 3), tensor("b", 6)]
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["y"], "conv", **attributes)]
    model = model_of(nodes, weights, [2, 4, 16], opset=opset)
    check_same(model, widen_convolutions, 1)
    assert op_types(model) == ["Unsqueeze", "Conv", "Squeeze"]
    assert model.graph.node[1].name == "conv"


@pytest.mark.real
def test_a_chain_of_convolutions_has_one_pair() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "v"], ["c"], pads=[1, 1]),
        helper.make_node("BatchNormalization", ["c", "s", "s", "s", "s"], ["d"]),
        helper.make_node("Sigmoid", ["d"], ["y"]),
    ]
    weights = [tensor("w", 4, 4, 3), tensor("v", 4, 4, 3), tensor("s", 4, value=1.5)]
    model = model_of(nodes, weights, [1, 4, 8])
    check_same(model, widen_convolutions, 2)
    middle = ["Conv", "Relu", "Conv", "BatchNormalization", "Sigmoid"]
    assert op_types(model) == ["Unsqueeze", *middle, "Squeeze"]


@pytest.mark.real
def test_a_result_with_other_readers_keeps_its_rank() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1]),
        helper.make_node("Conv", ["a", "w"], ["b"], pads=[1, 1]),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    model = model_of(nodes, [tensor("w", 4, 4, 3)], [1, 4, 8], outputs=["y", "a"])
    check_same(model, widen_convolutions, 2)
    assert op_types(model).count("Unsqueeze") == 1
    assert op_types(model).count("Squeeze") == 2


@pytest.mark.real
def test_a_weight_with_other_readers_is_copied() -> None:
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1]),
        helper.make_node("ReduceSum", ["w"], ["total"], keepdims=0),
        helper.make_node("Mul", ["a", "total"], ["y"]),
    ]
    check_same(model_of(nodes, [tensor("w", 4, 4, 3)], [1, 4, 8]), widen_convolutions, 1)


@pytest.mark.real
def test_a_file_whose_initializers_had_to_be_inputs_takes_a_copied_weight() -> None:
    nodes = [
        helper.make_node("Constant", [], ["w"], value=tensor("", 4, 4, 3)),
        helper.make_node("Conv", ["x", "w"], ["a"], pads=[1, 1]),
        helper.make_node("ReduceSum", ["w"], ["total"], keepdims=0),
        helper.make_node("Mul", ["a", "total"], ["y"]),
    ]
    model = model_of(nodes, [], [1, 4, 8], opset=11)
    model.ir_version = 3
    check_same(model, widen_convolutions, 1)


@pytest.mark.real
def test_convolutions_in_branches_get_a_height() -> None:
    nodes = in_branches([helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1])], (1, 4, 8))
    check_same(model_of(nodes, [tensor("w", 4, 4, 3)], [1, 4, 8]), widen_convolutions, 2)


@pytest.mark.real
@pytest.mark.parametrize(
    ("dims", "kernel", "as_inputs"), [([1, 4, 8, 8], (4, 4, 3, 3), []), ([1, 4, 8], (4, 4, 3), ["w"])]
)
def test_other_convolutions_stay(dims: list[int], kernel: tuple[int, ...], as_inputs: list[str]) -> None:
    nodes = [helper.make_node("Conv", ["x", "w"], ["y"])]
    check_same(model_of(nodes, [tensor("w", *kernel)], dims, as_inputs=as_inputs), widen_convolutions, 0)


@pytest.mark.real
@settings(max_examples=amount(25))
@given(data=st.data())
def test_random_nets_of_convolutions_keep_their_outputs(data: st.DataObject) -> None:
    numbers = count()
    names, nodes, weights = ["x"], [], [tensor("w0", 4, 4, 3), tensor("w1", 4, 1, 5)]
    for _ in range(data.draw(st.integers(1, 7))):
        source = data.draw(st.sampled_from(names))
        made = f"t{next(numbers)}"
        kind = data.draw(st.sampled_from(["Conv", "Depthwise", "Relu", "Add", "Tanh"]))
        if kind == "Conv":
            nodes.append(helper.make_node("Conv", [source, "w0"], [made], pads=[1, 1]))
        elif kind == "Depthwise":
            nodes.append(helper.make_node("Conv", [source, "w1"], [made], pads=[2, 2], group=4))
        elif kind == "Add":
            nodes.append(helper.make_node("Add", [source, data.draw(st.sampled_from(names))], [made]))
        else:
            nodes.append(helper.make_node(kind, [source], [made]))
        names.append(made)
    outputs = sorted({names[-1], data.draw(st.sampled_from(names[1:]))})
    model = model_of(nodes, weights, [1, 4, 9], outputs=outputs)
    check_same(model, widen_convolutions, sum(node.op_type == "Conv" for node in nodes))


# Casts and weights


@pytest.mark.real
def test_casts_there_and_back_are_left_out() -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Cast", ["r"], ["d"], to=TensorProto.DOUBLE),
        helper.make_node("Cast", ["d"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Neg", ["f"], ["y"]),
    ]
    model = model_of(nodes, [])
    check_same(model, remove_cast_pairs, 1)
    assert op_types(model) == ["Relu", "Identity", "Neg"]


@pytest.mark.real
@pytest.mark.parametrize("other", [TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.INT64])
def test_casts_through_a_narrower_float_or_integers_stay_because_they_round(other: int) -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["n"], to=other),
        helper.make_node("Cast", ["n"], ["y"], to=TensorProto.FLOAT),
    ]
    check_same(model_of(nodes, []), remove_cast_pairs, 0)


@pytest.mark.real
def test_a_detour_through_float32_of_a_float16_tensor_is_left_out() -> None:
    nodes = [
        helper.make_node("Cast", ["x"], ["n"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["n"], ["w"], to=TensorProto.FLOAT),
        helper.make_node("Cast", ["w"], ["b"], to=TensorProto.FLOAT16),
        helper.make_node("Cast", ["b"], ["y"], to=TensorProto.FLOAT),
    ]
    model = model_of(nodes, [])
    check_same(model, remove_cast_pairs, 1)
    assert op_types(model) == ["Cast", "Identity", "Cast"]


@pytest.mark.real
@pytest.mark.parametrize("stored", ["raw", "list"])
def test_denormals_become_zero(stored: str) -> None:
    values = np.array([[1e-39, 1.0], [0.0, -2e-40], [3.0, np.inf], [1e-37, np.nan]], np.float32)
    weight = numpy_helper.from_array(values, "w")
    if stored == "list":
        weight = helper.make_tensor("w", TensorProto.FLOAT, values.shape, values.flatten())
    model = model_of([helper.make_node("MatMul", ["x", "w"], ["y"])], [weight])
    assert set_denormals_to_zero(model) == 2
    kept = numpy_helper.to_array(model.graph.initializer[0])
    np.testing.assert_array_equal(kept, np.where(np.abs(values) < 1e-38, np.float32(0), values))
    assert set_denormals_to_zero(model) == 0


@pytest.mark.real
def test_equal_weights_are_shared() -> None:
    first, other = tensor("w", 16, 16), tensor("other", 16, 16)
    second = onnx.TensorProto()
    second.CopyFrom(first)
    second.name = "v"
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["a", "v"], ["b"]),
        helper.make_node("MatMul", ["b", "other"], ["y"]),
    ]
    model = model_of(nodes, [first, second, other], [2, 16])
    check_same(model, share_duplicated_weights, 1)
    assert [weight.name for weight in model.graph.initializer] == ["w", "other"]


@pytest.mark.real
def test_a_duplicate_that_a_branch_reads_is_shared() -> None:
    first, second = tensor("w", 16, 16, value=0.5), tensor("v", 16, 16, value=0.5)
    body = [helper.make_node("MatMul", ["x", "v"], ["a"]), helper.make_node("MatMul", ["a", "w"], ["b"])]
    model = model_of(in_branches(body, (2, 16)), [first, second], [2, 16])
    check_same(model, share_duplicated_weights, 1)


def test_a_duplicate_whose_name_means_another_tensor_in_a_branch_stays() -> None:
    first, second = tensor("w", 16, 16, value=0.5), tensor("v", 16, 16, value=0.5)
    body = [helper.make_node("Relu", ["x"], ["v"])]
    model = model_of(in_branches(body, (2, 16)), [first, second], [2, 16])
    assert share_duplicated_weights(model) == 0


@pytest.mark.real
def test_weights_that_nothing_reads_leave_the_file() -> None:
    nodes = in_branches([helper.make_node("MatMul", ["x", "w"], ["m"])], (2, 4))
    weights = [tensor("w", 4, 4), tensor("unused", 4), tensor("input", 4)]
    model = model_of(nodes, weights, as_inputs=["input"])
    check_same(model, remove_unused_weights, 1)
    assert [weight.name for weight in model.graph.initializer] == ["w", "input"]


# As a step


def chain(path: Path, *, external: bool = False) -> Path:
    """A net in which every rewrite but that of casts applies."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "first", pads=[1, 1]),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("Pow", ["b", "half"], ["c"], "power"),
        helper.make_node("Conv", ["c", "v"], ["y"], "second", pads=[1, 1]),
    ]
    kernel = RANDOM.standard_normal((16, 16, 3)).astype(np.float32)
    kernel[0, 0, 0] = 1e-40
    weights = [numpy_helper.from_array(kernel, name) for name in ("w", "v")]
    weights += [tensor("half", value=0.5), tensor("unused", 64)]
    model = model_of(nodes, weights, [1, 16, 32], as_inputs=["w"])
    if external:
        onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    else:
        onnx.save(model, path)
    return path


@pytest.mark.real
@pytest.mark.parametrize("external", [False, True])
def test_all_rewrites_of_a_file_and_the_script_that_does_the_same(external: bool, tmp_path: Path) -> None:
    path = chain(tmp_path / "model.onnx", external=external)
    own = tuple(name for name, rewrite in catalogue.BY_NAME.items() if not rewrite.package)
    prepared = wb.prepare(path, wb.Config(rewrites=own))
    assert prepared.steps[0].did == (
        "functions-inlined applies nowhere, "
        "weights-out-of-inputs applied 1 time, constants-to-initializers applies nowhere, "
        "loop-to-product applies nowhere, einsum-spelled-out applies nowhere, "
        "gelu-to-one-node applies nowhere, layer-norm-to-one-node applies nowhere, "
        "batch-norm-folded applies nowhere, power-spelled-out applied 1 time, "
        "conv1d-to-2d applied 2 times, reflect-pad-spelled-out applies nowhere, "
        "channels-padded applies nowhere, "
        "logits-of-last-position applies nowhere, cast-pairs-removed applies nowhere, "
        "denormals-to-zero applied 2 times, "
        "duplicated-weights-shared applied 1 time, unused-weights-removed applied 2 times"
    )
    feed = {"x": np.abs(RANDOM.standard_normal((1, 16, 32))).astype(np.float32)}
    before, after = (
        ort.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(None, feed)[0]
        for file in (path, prepared.model.path)
    )
    np.testing.assert_allclose(after, before, rtol=1e-4, atol=1e-5)
    run_the_script(prepared, feed, tmp_path)


def with_functions() -> onnx.ModelProto:
    """A model that calls its own function in the graph and in both branches of an If, and one of ORT's."""
    call = helper.make_node("Twice", ["t"], ["c"], domain="own")
    nodes = [
        helper.make_node("Twice", ["x"], ["d"], domain="own"),
        helper.make_node("MatMul", ["d", "w"], ["m"]),
        helper.make_node("QuickGelu", ["m"], ["t"], domain="com.microsoft"),
        *in_branches([call], (2, 4)),
    ]
    opsets = [helper.make_opsetid("", 17)]
    twice = [helper.make_node("Abs", ["a"], ["h"]), helper.make_node("Add", ["h", "h"], ["b"])]
    model = model_of(nodes, [tensor("w", 4, 4)])
    for domain, name, body in (
        ("own", "Twice", twice),
        ("com.microsoft", "QuickGelu", [helper.make_node("Neg", ["a"], ["b"])]),
    ):
        model.opset_import.append(helper.make_opsetid(domain, 1))
        model.functions.append(helper.make_function(domain, name, ["a"], ["b"], body, opsets))
    return model


@pytest.mark.real
def test_functions_become_their_nodes_but_those_of_ort() -> None:
    check_same(with_functions(), inline_functions, 3)
    check_same(model_of([helper.make_node("Relu", ["x"], ["y"])], []), inline_functions, 0)
    model = with_functions()
    inline_functions(model)
    assert {"Twice", "QuickGelu"} & {*op_types(model)} == {"QuickGelu"}
    assert [weight.name for weight in model.graph.initializer] == ["w"]


@pytest.mark.real
def test_functions_of_another_opset_stay(tmp_path: Path) -> None:
    path, model = tmp_path / "model.onnx", with_functions()
    model.functions[0].opset_import[0].version = 13
    onnx.save(model, path)
    prepared = wb.prepare(path, wb.Config(precision=wb.DynamicInt8()))
    assert prepared.steps[0].did == "functions-inlined applies nowhere"


@pytest.mark.real
@pytest.mark.parametrize(
    "changes", [{"saved_graph": "onnx"}, {"precision": wb.Float16()}, {"precision": wb.DynamicInt8()}]
)
def test_what_changes_a_file_inlines_its_functions_first(changes: dict[str, Any], tmp_path: Path) -> None:
    path, model = tmp_path / "model.onnx", with_functions()
    onnx.save(model, path)
    prepared = wb.prepare(path, wb.Config(**changes))
    assert prepared.steps[0].did == "functions-inlined applied 3 times"
    feed = {"x": RANDOM.standard_normal((2, 4)).astype(np.float32)}
    (before,) = run(model, feed)
    (after,) = run(onnx.load(prepared.model.path), feed)
    np.testing.assert_allclose(after, before, rtol=0.1, atol=0.1)
    run_the_script(prepared, feed, tmp_path)


@pytest.mark.real
def test_a_rewrite_that_applies_nowhere_says_so() -> None:
    prepared = wb.prepare("digits-conv", wb.Config(rewrites=("conv1d-to-2d",)))
    assert prepared.steps[0].did == "conv1d-to-2d applies nowhere"
    assert "no rewrite applies" in prepared.notes[0]


@pytest.mark.real
@pytest.mark.parametrize(
    ("pads", "axes", "applied"),
    [
        ([0, 0, 1, 2, 0, 0, 2, 1], None, 1),
        ([0, 0, 0, 3, 0, 0, 0, 0], None, 1),
        ([0, 0, 4, 0, 0, 0, 4, 0], None, 1),  # all of an axis but its edge
        ([1, 2], [-2], 1),
        ([0, 0, 0, 0, 0, 0, 0, 0], None, 0),
        ([0, 0, -1, 0, 0, 0, 1, 0], None, 0),
    ],
)
def test_reflecting_pads_are_slices_with_equal_outputs(
    pads: list[int], axes: list[int] | None, applied: int
) -> None:
    weights = [numpy_helper.from_array(np.array(pads, np.int64), "pads")]
    inputs = ["h", "pads"]
    if axes is not None:
        weights.append(numpy_helper.from_array(np.array(axes, np.int64), "axes"))
        inputs += ["", "axes"]
    nodes = [
        helper.make_node("Relu", ["x"], ["h"]),
        helper.make_node("Pad", inputs, ["y"], "pad", mode="reflect"),
    ]
    model = model_of(nodes, weights, (1, 2, 5, 6), opset=18)
    feed = {"x": RANDOM.standard_normal((1, 2, 5, 6)).astype(np.float32)}
    (before,) = run(model, feed)
    check_same(model, spell_reflections_out, applied)
    assert np.array_equal(run(model, feed)[0], before)
    assert ("Pad" in op_types(model)) is not bool(applied)
    assert model.graph.node[-1].name == "pad"


@pytest.mark.real
@pytest.mark.parametrize("mode", ["constant", "edge"])
def test_other_pads_stay(mode: str) -> None:
    pads = numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads")
    model = model_of([helper.make_node("Pad", ["x", "pads"], ["y"], mode=mode)], [pads], (1, 2, 5, 6))
    check_same(model, spell_reflections_out, 0)


@pytest.mark.real
def test_reflecting_pads_of_branches() -> None:
    pads = numpy_helper.from_array(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64), "pads")
    body = [helper.make_node("Pad", ["x", "pads"], ["inside"], mode="reflect")]
    model = model_of(in_branches(body, (1, 2, 7, 8)), [pads], (1, 2, 5, 6))
    check_same(model, spell_reflections_out, 2)
