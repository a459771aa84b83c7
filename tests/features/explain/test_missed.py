"""Each condition that we name is one that ORT's fusion really fails for: with it, and without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import NodeProto, TensorProto, helper, numpy_helper

from workbench.core.config import Config
from workbench.core.models import Model
from workbench.features.explain.explanation import Explained, explain

pytestmark = pytest.mark.real
Dims = list[int | str | None]
WIDTH = 8


def explanation_of(
    folder: Path,
    nodes: list[NodeProto],
    inputs: dict[str, Dims],
    output: str,
    constants: dict[str, object],
    *,
    also: str = "",
    config: Config | None = None,
) -> Explained:
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in inputs.items()]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in (output, also) if name
    ]
    weights = [
        numpy_helper.from_array(np.asarray(value, np.float32), name) for name, value in constants.items()
    ]
    graph = helper.make_graph(nodes, "g", values, outputs, weights)
    path = folder / "model.onnx"
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)]), path)
    return explain(Model(path, "model"), config or Config())


def gelu(order: str) -> list[NodeProto]:
    first, second = {
        "x first": (("x", "plus"), ("first", "half")),
        "half of x first": (("x", "half"), ("first", "plus")),
        "half of the sum first": (("half", "plus"), ("x", "first")),
    }[order]
    return [
        helper.make_node("Div", ["x", "root"], ["d"], "div"),
        helper.make_node("Erf", ["d"], ["e"], "erf"),
        helper.make_node("Add", ["e", "one"], ["plus"], "add"),
        helper.make_node("Mul", list(first), ["first"], "mul1"),
        helper.make_node("Mul", list(second), ["y"], "mul2"),
    ]


@pytest.mark.parametrize(
    ("order", "fused"), [("x first", True), ("half of x first", True), ("half of the sum first", False)]
)
def test_the_order_of_a_gelu_s_products(order: str, fused: bool, tmp_path: Path) -> None:
    constants = {"root": 2**0.5, "one": 1, "half": 0.5}
    explanation = explanation_of(tmp_path, gelu(order), {"x": [2, WIDTH]}, "y", constants)
    assert ("Gelu" in {node.op_type for node in explanation.optimized.nodes}) == fused
    reasons = [place.reason for place in explanation.passes.missed if place.pattern == "gelu"]
    assert [bool(reason and "half of 1 + erf" in reason) for reason in reasons] == ([] if fused else [True])


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (["n", "m", WIDTH], ["n", "m", WIDTH], None),
        ([2, 3, WIDTH], [2, 3, WIDTH], None),
        (["n", "m", WIDTH], ["a", "b", WIDTH], "[n, m, 8] and [a, b, 8]"),
        (["n", "m", WIDTH], [1, "m", WIDTH], "[n, m, 8] and [1, m, 8]"),
        ([None, None, WIDTH], [None, None, WIDTH], "[?, ?, 8] and [?, ?, 8]"),
        ([3, WIDTH], [3, WIDTH], "has 2 and 2 dims"),
    ],
)
def test_the_shapes_of_a_skip_layer_norm(
    first: Dims, second: Dims, words: str | None, tmp_path: Path
) -> None:
    nodes = [
        helper.make_node("Add", ["x", "y"], ["sum"], "add"),
        helper.make_node("LayerNormalization", ["sum", "scale", "bias"], ["z"], "norm", axis=-1),
    ]
    constants = {"scale": np.ones(WIDTH), "bias": np.zeros(WIDTH)}
    explanation = explanation_of(tmp_path, nodes, {"x": first, "y": second}, "z", constants)
    fused = "SkipLayerNormalization" in {node.op_type for node in explanation.optimized.nodes}
    assert fused == (words is None)
    reasons = [
        place.reason or "" for place in explanation.passes.missed if place.pattern == "skip layer norm"
    ]
    assert len(reasons) == (0 if fused else 1)
    assert all(words and words in reason for reason in reasons)


def test_a_sum_with_two_readers_is_no_skip_layer_norm(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "y"], ["sum"], "add"),
        helper.make_node("LayerNormalization", ["sum", "scale", "bias"], ["n"], "norm", axis=-1),
        helper.make_node("Mul", ["n", "sum"], ["z"], "again"),
    ]
    constants = {"scale": np.ones(WIDTH), "bias": np.zeros(WIDTH)}
    explanation = explanation_of(tmp_path, nodes, {"x": [2, 3, WIDTH], "y": [2, 3, WIDTH]}, "z", constants)
    assert "SkipLayerNormalization" not in {node.op_type for node in explanation.optimized.nodes}
    assert [place.reason for place in explanation.passes.missed] == ["the sum has 2 readers"]


def normalized_conv(weight: str) -> list[NodeProto]:
    return [
        helper.make_node("Conv", ["x", weight], ["c"], "conv"),
        helper.make_node("BatchNormalization", ["c", *"abmv"], ["z"], "norm"),
    ]


CHANNELS = {name: np.full(2, 0.5, np.float32) for name in "abmv"}
KERNEL = np.ones((2, 2, 1, 1), np.float32)


def missed_batch_norm(explanation: Explained) -> list[tuple[str | None, str | None]]:
    return [
        (place.reason, place.reason_from)
        for place in explanation.passes.missed
        if place.pattern == "conv + batch norm"
    ]


def test_a_rule_that_was_blocked_by_a_weight_says_so(tmp_path: Path) -> None:
    inputs: dict[str, Dims] = {"x": [1, 2, 4, 4], "w": [2, 2, 1, 1]}
    explanation = explanation_of(tmp_path, normalized_conv("w"), inputs, "z", CHANNELS)
    assert missed_batch_norm(explanation) == [("the weight of conv is no constant", "the graph")]


def test_a_rule_that_was_blocked_by_an_output_of_the_model_says_so(tmp_path: Path) -> None:
    explanation = explanation_of(
        tmp_path, normalized_conv("k"), {"x": [1, 2, 4, 4]}, "z", {**CHANNELS, "k": KERNEL}, also="c"
    )
    assert missed_batch_norm(explanation) == [("conv makes an output of the model", "the graph")]


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (Config(disabled_passes=("ConvBNFusion",)), "ConvBNFusion is among disabled_passes"),
        (Config(level="disabled"), "ConvBNFusion did not run at this level"),
        (
            Config(disabled_passes=("Level1_RuleBasedTransformer",)),
            "ConvBNFusion is a rule of Level1_RuleBasedTransformer, which is among disabled_passes",
        ),
    ],
)
def test_a_rule_that_did_not_run_says_why(config: Config, words: str, tmp_path: Path) -> None:
    constants = {**CHANNELS, "k": KERNEL}
    explanation = explanation_of(
        tmp_path, normalized_conv("k"), {"x": [1, 2, 4, 4]}, "z", constants, config=config
    )
    assert missed_batch_norm(explanation) == [(words, "the config")]
