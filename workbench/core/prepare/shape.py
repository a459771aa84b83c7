"""The kind, the number of attention heads and the width of a transformer, read from its graph."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

from workbench.core.models.element_type import ElementType
from workbench.core.rewrites.graphs import graphs

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

# The transposes that follow a reshape to (batch, tokens, heads, width).
HEADS_APART = ([0, 2, 1, 3], [0, 2, 3, 1])
MOST_HEADS = 512
_SMALL = 64  # elements of a constant that holds a shape


@dataclass(frozen=True, slots=True)
class TransformerShape:
    """The shape of a transformer. None: no evidence, or contradictory evidence."""

    model_type: str | None
    num_heads: int | None
    hidden_size: int | None
    why: tuple[str, ...]  # every value with its evidence


def transformer_shape(model: ModelProto) -> TransformerShape:
    """Return the shape, read from reshape constants, normalization width, inputs and operators."""
    nodes = [node for graph in graphs(model) for node in graph.node]
    makers = {output: node for node in nodes for output in node.output}
    small = _small_constants(model, nodes)
    why: list[str] = []
    width = _width(model, nodes, makers)
    if width:
        why.append(f"hidden size {width} from the width of the normalization")
    heads = _heads(nodes, makers, small, width)
    if heads:
        why.append(f"{heads} heads from the reshapes before attention")
    kind, because = _kind(model, nodes)
    if kind:
        why.append(f"model type {kind}: {because}")
    return TransformerShape(kind, heads, width, tuple(why))


def _small_constants(model: ModelProto, nodes: list[NodeProto]) -> dict[str, list[int]]:
    """Return the integer constants that can be (parts of) shapes, by tensor name."""
    from workbench.core.rewrites.scopes import value_of

    constants: dict[str, list[int]] = {}
    for graph in graphs(model):
        for tensor in getattr(graph, "initializer", ()):
            _add_small(constants, tensor.name, tensor)
    for node in nodes:
        tensor = value_of(node) if node.op_type == "Constant" else None
        if tensor is not None:
            _add_small(constants, node.output[0], tensor)
    for node in nodes:  # operators that exporters insert between a constant and its use
        if node.op_type in ("Unsqueeze", "Identity", "Cast") and node.input and node.input[0] in constants:
            constants[node.output[0]] = constants[node.input[0]]
    return constants


def _add_small(constants: dict[str, list[int]], name: str, tensor: TensorProto) -> None:
    from onnx import numpy_helper

    integer = tensor.data_type in (ElementType.INT64, ElementType.INT32)
    external = tensor.data_location == tensor.EXTERNAL
    if integer and not external and prod(tensor.dims) <= _SMALL:
        constants[name] = [int(value) for value in numpy_helper.to_array(tensor).reshape(-1)]


def _width(model: ModelProto, nodes: list[NodeProto], makers: dict[str, NodeProto]) -> int | None:
    """Return the most frequent length among the vectors that scale normalized activations."""
    lengths = {
        tensor.name: tensor.dims[0]
        for graph in graphs(model)
        for tensor in getattr(graph, "initializer", ())
        if len(tensor.dims) == 1
    }
    lengths |= {
        node.output[0]: lengths[node.input[0]]
        for node in nodes
        if node.op_type == "Identity" and node.input[0] in lengths
    }
    votes: Counter[int] = Counter()
    for node in nodes:
        if node.op_type in ("LayerNormalization", "SimplifiedLayerNormalization", "RMSNormalization"):
            if len(node.input) > 1 and node.input[1] in lengths:
                votes[lengths[node.input[1]]] += 1
        elif node.op_type == "Mul":
            scale = next((lengths[name] for name in node.input if name in lengths), None)
            other = [makers.get(name) for name in node.input if name not in lengths]
            if scale and other and other[0] is not None and other[0].op_type in ("Div", "Mul", "Cast"):
                votes[scale] += 1
    common = votes.most_common(1)
    return int(common[0][0]) if common and common[0][0] > 1 else None


def _heads(
    nodes: list[NodeProto], makers: dict[str, NodeProto], small: dict[str, list[int]], width: int | None
) -> int | None:
    """Return the number of heads, read from reshapes before the transpose that moves the heads forward."""
    votes: Counter[int] = Counter()
    for node in nodes:
        if node.op_type != "Transpose":
            continue
        order = next((list(attribute.ints) for attribute in node.attribute if attribute.name == "perm"), [])
        reshape = makers.get(node.input[0])
        if order not in HEADS_APART or reshape is None or reshape.op_type != "Reshape":
            continue
        if len(reshape.input) < 2:  # before opset 5, the shape was an attribute
            continue
        last = _last_two(reshape.input[1], makers, small)
        if last is None:
            continue
        heads, head_width = last
        if head_width in (-1, 0) and width and heads > 0 and width % heads == 0:
            head_width = width // heads
        if heads == -1 and width and head_width > 0 and width % head_width == 0:
            heads = width // head_width
        if 0 < heads <= MOST_HEADS and head_width > 0 and (width is None or heads * head_width == width):
            votes[heads] += 1
    common = votes.most_common(1)
    return int(common[0][0]) if common else None


def _last_two(name: str, makers: dict[str, NodeProto], small: dict[str, list[int]]) -> tuple[int, int] | None:
    """Return the last two of four dims of a shape, if both are constant."""
    if name in small:
        known = small[name]
        return (known[2], known[3]) if len(known) == 4 else None
    maker = makers.get(name)
    if maker is not None and maker.op_type == "Concat":
        dims: list[int | None] = []
        for part in maker.input:
            dims += small.get(part, [None])
        if len(dims) == 4 and dims[2] is not None and dims[3] is not None:
            return dims[2], dims[3]
    return None


def _kind(model: ModelProto, nodes: list[NodeProto]) -> tuple[str | None, str]:
    """Return the model type for ORT's fusion patterns, and the evidence."""
    operators = Counter(node.op_type for node in nodes)
    inputs = {value.name: value for value in model.graph.input}
    attention = operators["Softmax"] + operators["Attention"]
    if not attention:
        return None, "no Softmax, so no attention"
    ranks = {len(value.type.tensor_type.shape.dim) for value in inputs.values()}
    tokens = any("ids" in name or "token" in name for name in inputs)
    cached = any(name.startswith("past") for name in inputs)
    if operators["Conv"] and (operators["InstanceNormalization"] or operators["GroupNormalization"]):
        return "unet", "convolutions with group normalization beside attention"
    if 4 in ranks and operators["Conv"] and not tokens:
        return "vit", "a picture goes in, and attention follows one convolution"
    if operators["Conv"] and not tokens:
        return "bart", "sound goes through convolutions into attention, as in Whisper's encoder"
    if cached:
        return "gpt2", "a cache of past tokens"
    if any("type" in name or "segment" in name for name in inputs):
        return "bert", "tokens of two kinds (token types) go in"
    if _scores_every_token(model):
        return "gpt2", "scores for the whole vocabulary come out at every position"
    if not any("mask" in name for name in inputs):
        return "gpt2", "tokens go in without a mask, so that each sees those before it"
    return "bert", "attention over tokens, and no next token comes out"


def _scores_every_token(model: ModelProto) -> bool:
    """Return whether the width of the first output equals the length of the largest embedding table."""
    tables = [tensor.dims[0] for tensor in model.graph.initializer if len(tensor.dims) == 2]
    dims = model.graph.output[0].type.tensor_type.shape.dim
    return len(dims) == 3 and bool(dims[-1].dim_value) and dims[-1].dim_value == max(tables, default=0)
