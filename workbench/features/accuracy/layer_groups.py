"""The layers of a quantized model that could be left in float, one by one or block by block."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

LAYERS = frozenset(
    {"Conv", "ConvTranspose", "MatMul", "Gemm", "LSTM", "GRU", "Attention", "EmbedLayerNormalization"}
)
MOVING = frozenset(  # values as they are, which float16 rounds no further
    {
        *(
            "Cast",
            "Concat",
            "Constant",
            "ConstantOfShape",
            "Expand",
            "Flatten",
            "Gather",
            "Identity",
            "MaxPool",
        ),
        *("Pad", "Reshape", "Shape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze", "Where"),
    }
)
REST = "all other operators"
_MOST_LAYERS = 32  # more layers are grouped into blocks, unless asked otherwise
MOST_BLOCKS = 24
By = Literal["layer", "block", "auto"]


@dataclass(frozen=True, slots=True)
class LayerGroup:
    """One layer, or a block of them: the nodes of the float file that `exclude` takes.

    For float16, all nodes of one type, with the type that `blocked_ops` takes in place of their names.
    """

    name: str
    nodes: tuple[str, ...]
    op_types: tuple[str, ...]


def layer_groups(before: ModelProto, after: ModelProto, by: By = "auto") -> tuple[LayerGroup, ...]:
    """Return the groups of layers, from the float file before quantization and the quantized file, in order.

    Operators without weights that were quantized too are one group together.
    """
    changed = quantized_nodes(before, after)
    layers = [node for node in changed if node.op_type in LAYERS]
    rest = [node for node in changed if node.op_type not in LAYERS]
    together = by == "block" or (by == "auto" and len(layers) > _MOST_LAYERS)
    groups = _blocks(layers) if together else [(node.name, [node]) for node in layers]
    layer_groups = [_group(name, nodes) for name, nodes in groups]
    return (*layer_groups, _group(REST, rest)) if rest else tuple(layer_groups)


def operator_groups(before: ModelProto, blocked: Container[str]) -> tuple[LayerGroup, ...]:
    """Return a group for each type of operator that float16 computes with, in the order of the graph."""
    types = dict.fromkeys(node.op_type for node in before.graph.node)
    return tuple(
        LayerGroup(name, (name,), (name,)) for name in types if name not in MOVING and name not in blocked
    )


def quantized_nodes(before: ModelProto, after: ModelProto) -> list[NodeProto]:
    """Return the nodes that are gone, replaced, or read a DequantizeLinear in the quantized file."""
    constants = {tensor.name for tensor in after.graph.initializer}
    makers = {output: node.op_type for node in after.graph.node for output in node.output}
    restored = {  # without rows that a Gather took from an integer table: their readers stay float
        output
        for node in after.graph.node
        if node.op_type == "DequantizeLinear"
        and (node.input[0] in constants or makers.get(node.input[0]) == "QuantizeLinear")
        for output in node.output
    }

    def is_restored(name: str) -> bool:
        return name in restored or (name in constants and name.endswith("_quantized"))

    later = {node.name: node for node in after.graph.node}
    changed = []
    for node in before.graph.node:
        other = later.get(node.name)
        if other is None or other.op_type != node.op_type or any(is_restored(name) for name in other.input):
            changed.append(node)
    # A node that the quantizer only removed (a Relu replaced by clipping, a Constant) is no group.
    return [node for node in changed if node.name in later or _is_integer_now(node, makers, after)]


def _is_integer_now(node: NodeProto, made: Container[str], after: ModelProto) -> bool:
    """Return whether another operator makes the output now, or its quantized form exists."""
    names = [
        name
        for output in node.output
        for name in (output, f"{output}_quantized", f"{output}_output_quantized")
    ]
    if any(name in made for name in names):
        return True
    return any(other.name.startswith(node.name) for other in after.graph.node if node.name)


def _blocks(layers: Sequence[NodeProto]) -> list[tuple[str, list[NodeProto]]]:
    """Group by the longest module paths that leave at most MOST_BLOCKS groups."""
    paths = [node.name.strip("/").split("/") for node in layers]
    deepest = max((len(path) for path in paths), default=1)
    best: dict[str, list[NodeProto]] = {}
    for depth in range(1, deepest + 1):
        groups: dict[str, list[NodeProto]] = {}
        for node, path in zip(layers, paths, strict=True):
            key = "/".join(path[: min(depth, max(1, len(path) - 1))])
            groups.setdefault(key, []).append(node)
        if len(groups) > MOST_BLOCKS:
            break
        best = groups
    return list((best or _runs(layers)).items())


def _runs(layers: Sequence[NodeProto]) -> dict[str, list[NodeProto]]:
    """Group neighbours in the graph, where names have no modules."""
    size = -(-len(layers) // MOST_BLOCKS)
    parts = [list(layers[at : at + size]) for at in range(0, len(layers), size)]
    return {f"{part[0].name} … {part[-1].name}" if len(part) > 1 else part[0].name: part for part in parts}


def _group(name: str, nodes: Sequence[NodeProto]) -> LayerGroup:
    op_types = dict.fromkeys(node.op_type for node in nodes)
    return LayerGroup(name, tuple(node.name for node in nodes), tuple(op_types))
