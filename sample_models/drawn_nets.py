"""Small networks with drawn weights, made in a moment: what a lesson plants in them is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import ModelProto

IR_VERSION, OPSET = 10, 17
WIDTH, LENGTH, LAYERS, HEADS = 256, 128, 3, 4  # of the encoder
SIDE, CONVOLUTIONS, CLASSES = 56, 5, 16  # of the convolutional net
SPLIT_CHANNELS, SPLIT_SIDE = 8, 16  # of the graph that a provider splits


@dataclass
class _Graph:
    """A graph under construction from the input x; a node's output has the node's name."""

    shape: Sequence[int | str]
    nodes: list[Any] = field(default_factory=list)
    weights: dict[str, Any] = field(default_factory=dict)
    inputs: list[str] = field(default_factory=list)  # weights that are inputs of the graph instead
    seed: int = 3

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(self.seed)

    def weight(self, name: str, *shape: int) -> str:
        """Draw a weight that keeps the size of what it multiplies."""
        fan_in = math.prod(shape[1:]) if len(shape) > 2 else shape[0]
        return self.constant(name, self.random.standard_normal(shape) * math.sqrt(1 / fan_in))

    def constant(self, name: str, value: Any, dtype: Any = np.float32) -> str:
        from onnx import numpy_helper

        self.weights.setdefault(name, numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def add(self, op_type: str, name: str, *inputs: str, **attributes: Any) -> str:
        from onnx import helper

        self.nodes.append(helper.make_node(op_type, list(inputs), [name], name, **attributes))
        return name

    def model(self, name: str) -> ModelProto:
        from onnx import TensorProto, helper, shape_inference

        declared = [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)]
        declared += [
            helper.make_tensor_value_info(weight, TensorProto.FLOAT, self.weights[weight].dims)
            for weight in self.inputs
        ]
        stored = [tensor for weight, tensor in self.weights.items() if weight not in self.inputs]
        last = self.nodes[-1].output[0]
        output = helper.make_tensor_value_info(last, TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, name, declared, [output], stored)
        opsets = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        return shape_inference.infer_shapes(model)


def encoder(
    *,
    half_first: bool = False,
    length: int | str = LENGTH,
    width: int = WIDTH,
    layers: int = LAYERS,
    heads: int = HEADS,
) -> ModelProto:
    """Return a small encoder, as an exporter writes it: GELU as five nodes.

    `half_first` plants a GELU that takes the half of 1 + erf before it multiplies x. A `length` with a name
    in place of a number leaves that dimension open. Six `layers` of `width` 384 with 12 `heads` are the
    shape of the small sentence encoders.

    >>> from workbench import course
    >>> sum(node.op_type == "Erf" for node in course.encoder().graph.node)
    3
    """
    graph = _Graph([1, length, width])
    last = "x"
    for layer in range(layers):
        last = _attention(graph, f"layer.{layer}/attention", last, width, heads)
        path = f"layer.{layer}/feed_forward"
        inner = _linear(graph, f"{path}/up", last, width, 4 * width)
        outer = _linear(graph, f"{path}/down", _gelu(graph, path, inner, half_first), 4 * width, width)
        last = _norm(graph, path, graph.add("Add", f"{path}/sum", outer, last), width)
    return graph.model("encoder")


def conv_net(channels: int = 32, *, batch_norm: bool = False, weights_as_inputs: bool = False) -> ModelProto:
    """Return a chain of 3×3 convolutions with ReLU, with a batch normalization after each on request.

    `weights_as_inputs` plants weights that a caller gives in each call.

    >>> from workbench import course
    >>> len(course.conv_net(29).graph.node)
    12
    """
    graph, last, before = _Graph([1, 3, SIDE, SIDE]), "x", 3
    for layer in range(CONVOLUTIONS):
        path = f"block.{layer}"
        weight = graph.weight(f"{path}.weight", channels, before, 3, 3)
        graph.inputs += [weight] * weights_as_inputs
        last = graph.add("Conv", f"{path}/conv", last, weight, pads=[1, 1, 1, 1], kernel_shape=[3, 3])
        if batch_norm:
            parts = [graph.constant(f"{path}.{part}", np.full(channels, value)) for part, value in _NORM]
            last = graph.add("BatchNormalization", f"{path}/norm", last, *parts)
        last, before = graph.add("Relu", f"{path}/relu", last), channels
    weight = graph.weight("head.weight", CLASSES, channels, 1, 1)
    last = graph.add("Conv", "head/conv", last, weight, kernel_shape=[1, 1])
    graph.add("GlobalAveragePool", "head/pool", last)
    return graph.model(f"convolutional net, {channels} channels")


def split_graph() -> ModelProto:
    """Return four convolutions with a skip connection that an old exporter wrote as a Sum.

    Many providers do not take this operator, which cuts the graph in two.

    >>> from workbench import course
    >>> [node.op_type for node in course.split_graph().graph.node].count("Sum")
    1
    """
    graph, last = _Graph([1, SPLIT_CHANNELS, SPLIT_SIDE, SPLIT_SIDE], seed=8), "x"
    for number in range(1, 5):
        weight = graph.weight(f"weight_{number}", SPLIT_CHANNELS, SPLIT_CHANNELS, 3, 3)
        conv = graph.add("Conv", f"conv_{number}", last, weight, pads=[1, 1, 1, 1])
        last = graph.add("Relu", f"relu_{number}", conv)
        if number == 2:
            last = graph.add("Sum", "skip", "relu_1", "relu_2")
    return graph.model("split")


_NORM = (("scale", 1.1), ("bias", 0.1), ("mean", 0.0), ("variance", 1.0))


def _linear(graph: _Graph, path: str, source: str, before: int, after: int) -> str:
    product = graph.add("MatMul", f"{path}/MatMul", source, graph.weight(f"{path}.weight", before, after))
    return graph.add("Add", f"{path}/Add", product, graph.constant(f"{path}.bias", np.full(after, 0.01)))


def _attention(graph: _Graph, path: str, source: str, width: int, heads: int) -> str:
    """Add an attention with its sum and normalization behind it, as in BERT."""
    split = graph.constant("split", [0, 0, heads, width // heads], np.int64)
    joined = graph.constant("joined", [0, 0, width], np.int64)
    parts = {}
    for part, order in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        made = _linear(graph, f"{path}/{part}", source, width, width)
        shaped = graph.add("Reshape", f"{path}/{part}/Reshape", made, split)
        parts[part] = graph.add("Transpose", f"{path}/{part}/Transpose", shaped, perm=order)
    scores = graph.add("MatMul", f"{path}/scores", parts["query"], parts["key"])
    root = graph.constant("root", math.sqrt(width // heads))
    shares = graph.add("Softmax", f"{path}/Softmax", graph.add("Div", f"{path}/Div", scores, root), axis=-1)
    mixed = graph.add("MatMul", f"{path}/mixed", shares, parts["value"])
    back = graph.add("Transpose", f"{path}/Transpose", mixed, perm=[0, 2, 1, 3])
    whole = graph.add("Reshape", f"{path}/Reshape", back, joined)
    output = _linear(graph, f"{path}/output", whole, width, width)
    return _norm(graph, path, graph.add("Add", f"{path}/sum", output, source), width)


def _norm(graph: _Graph, path: str, source: str, width: int) -> str:
    scale = graph.constant("norm.scale", np.full(width, 1.1))
    bias = graph.constant("norm.bias", np.full(width, 0.1))
    return graph.add("LayerNormalization", f"{path}/LayerNormalization", source, scale, bias, axis=-1)


def _gelu(graph: _Graph, path: str, x: str, half_first: bool) -> str:
    root, unit, half = (graph.constant(name, value) for name, value in _GELU)
    scaled = graph.add("Div", f"{path}/gelu/Div", x, root)
    shifted = graph.add("Add", f"{path}/gelu/Add", graph.add("Erf", f"{path}/gelu/Erf", scaled), unit)
    first, second = (half, x) if half_first else (x, half)
    product = graph.add("Mul", f"{path}/gelu/Mul", shifted, first)
    return graph.add("Mul", f"{path}/gelu/Mul_1", product, second)


_GELU = (("root of 2", math.sqrt(2)), ("one", 1.0), ("half", 0.5))
