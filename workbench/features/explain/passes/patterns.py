"""Patterns that ORT has a fusion for, found by their anchor and its neighbours, and conditions that fail.

Tests try those of gelu and layer norm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.core.models.graph import Graph, Node

ATTENTION, QDQ = "attention", "QDQ to integer kernel"
_ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a pattern stands. `blocked`: the condition that fails there, where we can see it."""

    pattern: str
    nodes: tuple[str, ...]
    passes: tuple[str, ...]  # that would have done it
    blocked: str | None


Place = tuple[tuple[str, ...], str | None]  # the keys of its nodes, and the condition that fails there


def occurrences(graph: Graph) -> Iterator[Occurrence]:
    """Find every place of every pattern."""
    for node in graph.nodes:
        for pattern, (find, passes) in _PATTERNS.items():
            place = find(graph, node)
            if place is not None:
                yield Occurrence(pattern, place[0], passes, place[1])


def _attention(graph: Graph, node: Node) -> Place | None:
    """Find a Softmax between two products, whatever masks and scales stand between.

    Its fusion looks only after the basic level, so what fails is read in that graph.
    """
    if node.op_type != "Softmax":
        return None
    after = _next(graph, node, "MatMul", steps=3)
    before = _before(graph, node, "MatMul", steps=5)
    if after is None or before is None:
        return None
    return (before.key, node.key, after.key), None


def _layer_norm(graph: Graph, node: Node) -> Place | None:
    if node.op_type != "Div":
        return None
    root = _before(graph, node, "Sqrt", steps=1)
    mean = _before(graph, root, "ReduceMean", steps=3) if root else None
    if root is None or mean is None:
        return None
    scale = _next(graph, node, "Mul", steps=1)
    return (mean.key, root.key, node.key), None if scale else "no Mul with a scale follows the Div"


def _gelu(graph: Graph, node: Node) -> Place | None:
    if node.op_type != "Erf":
        return None
    add = _next(graph, node, "Add", steps=1)
    mul = _next(graph, add, "Mul", steps=1) if add else None
    blocked = _half_first(graph, mul) if mul else "no Add and Mul follow the Erf"
    if len(graph.readers.get(node.outputs[0], ())) > 1:
        blocked = "the Erf has more than one reader"
    return tuple(part.key for part in (node, add, mul) if part), blocked


def _skip_layer_norm(graph: Graph, node: Node) -> Place | None:
    if node.op_type not in ("LayerNormalization", "SimplifiedLayerNormalization"):
        return None
    add = graph.producers.get(node.inputs[0])
    if add is None or add.op_type != "Add" or any(name in graph.constants for name in add.inputs):
        return None
    readers = len(graph.readers.get(add.outputs[0], ()))
    return (add.key, node.key), f"the sum has {readers} readers" if readers > 1 else _summands(graph, add)


def _conv_bn(graph: Graph, node: Node) -> Place | None:
    conv = (
        graph.producers.get(node.inputs[0]) if node.op_type == "BatchNormalization" and node.inputs else None
    )
    if conv is None or conv.op_type != "Conv":
        return None
    is_fixed = _is_constant(graph, conv.inputs[1])
    weight = None if is_fixed else f"the weight of {conv.key} is no constant"
    return (conv.key, node.key), _one_reader(graph, conv) or weight


def _conv_activation(graph: Graph, node: Node) -> Place | None:
    conv = graph.producers.get(node.inputs[0]) if node.op_type in _ACTIVATIONS and node.inputs else None
    if conv is not None and conv.op_type == "BatchNormalization":
        conv = graph.producers.get(conv.inputs[0])
    if conv is None or conv.op_type != "Conv" or _is_gate(graph, node):
        return None
    blocked = _one_reader(graph, conv)
    if node.op_type == "Clip" and any(name and not _is_constant(graph, name) for name in node.inputs[1:]):
        blocked = "the bounds of the Clip are no constants"
    return (conv.key, node.key), blocked


def _silu(graph: Graph, node: Node) -> Place | None:
    if not _is_gate(graph, node):
        return None
    mul = next(reader for reader in graph.readers[node.outputs[0]] if node.inputs[0] in reader.inputs)
    readers = len(graph.readers[node.outputs[0]])
    return (node.key, mul.key), f"{node.key} has {readers} readers" if readers > 1 else None


def _is_gate(graph: Graph, node: Node) -> bool:
    """Return whether a Sigmoid multiplies its own input (SiLU), which ORT does not fuse into a Conv."""
    return node.op_type == "Sigmoid" and any(
        reader.op_type == "Mul" and node.inputs[0] in reader.inputs
        for reader in graph.readers.get(node.outputs[0], ())
    )


def _qdq(graph: Graph, node: Node) -> Place | None:
    if node.op_type not in ("Conv", "MatMul", "Gemm", "Add", "Mul", "AveragePool") or not node.outputs:
        return None
    makers = [graph.producers.get(name) for name in node.inputs[:2]]
    if len(makers) < 2 and node.op_type != "AveragePool":
        return None
    if not all(maker is not None and maker.op_type == "DequantizeLinear" for maker in makers):
        return None
    after = _next(graph, node, "QuantizeLinear", steps=1)
    blocked = _one_reader(graph, node)
    if after is None and node.op_type != "MatMul":
        blocked = "no QuantizeLinear follows"
    return tuple(part.key for part in (*makers, node, after) if part), blocked


_PATTERNS: dict[str, tuple[Callable[[Graph, Node], Place | None], tuple[str, ...]]] = {
    ATTENTION: (_attention, ("AttentionFusion", "GroupQueryAttentionFusion")),
    "layer norm": (_layer_norm, ("LayerNormFusionL1", "LayerNormFusionL2", "SimplifiedLayerNormFusion")),
    "gelu": (_gelu, ("GeluFusionL1", "GeluFusionL2")),
    "skip layer norm": (_skip_layer_norm, ("SkipLayerNormFusion", "EmbedLayerNormFusion")),
    "conv + batch norm": (_conv_bn, ("ConvBNFusion",)),
    "conv + activation": (_conv_activation, ("ConvActivationFusion", "NchwcTransformer")),
    "silu": (_silu, ("QuickGeluFusion",)),
    QDQ: (_qdq, ("QDQSelectorActionTransformer",)),
}


def _one_reader(graph: Graph, node: Node) -> str | None:
    readers = len(graph.readers.get(node.outputs[0], ()))
    if readers > 1:
        return f"{node.key} has {readers} readers"
    return f"{node.key} makes an output of the model" if node.outputs[0] in graph.outputs else None


def _half_first(graph: Graph, mul: Node) -> str | None:
    """Check the Mul that follows 1 + erf in a Gelu."""
    if not any(_is_constant(graph, name) for name in mul.inputs):
        return None
    return "half of 1 + erf is taken before it multiplies x; ORT's fusion wants x × (1 + erf) or x / 2 first"


def _summands(graph: Graph, add: Node) -> str | None:
    """Check the summands of a skip layer norm: three dims each, known to be equal before the model runs."""
    first, second = (_dims(graph, name) for name in add.inputs[:2])
    if first is None or second is None:
        return "the dims of what is added are not known before the model runs"
    if len(first) != len(second) or len(first) != 3:
        return f"what is added has {len(first)} and {len(second)} dims; ORT's fusion wants 3 each"
    if None in first + second or first != second:
        return (
            f"what is added is not known to be of one shape before the model runs: {_words(first)} and "
            f"{_words(second)}; fixed dims (free_dimensions) may make it so"
        )
    return None


def _is_constant(graph: Graph, name: str) -> bool:
    """Return whether a tensor is constant, also through Identity, Cast, ConstantOfShape…"""
    for _ in range(8):
        if name in graph.constants:
            return True
        maker = graph.producers.get(name)
        if maker is None:
            return False
        if maker.op_type == "Constant":
            return True
        name = maker.inputs[0] if maker.inputs else ""
    return False


def _dims(graph: Graph, name: str) -> tuple[int | str | None, ...] | None:
    """Return the dims, with None for a dim that ONNX's inference only made a name for."""
    info = graph.info(name)
    if info is None or info.dims is None:
        return None
    return tuple(None if isinstance(dim, str) and dim.startswith("unk__") else dim for dim in info.dims)


def _words(dims: tuple[int | str | None, ...]) -> str:
    return f"[{', '.join('?' if dim is None else str(dim) for dim in dims)}]"


def _next(graph: Graph, node: Node, op_type: str, *, steps: int) -> Node | None:
    """Find the nearest node of an operator among those that read what a node makes."""
    return _walk(node, op_type, steps, graph.readers_of)


def _before(graph: Graph, node: Node, op_type: str, *, steps: int) -> Node | None:
    """Find the nearest node of an operator among those that make what a node reads."""

    def makers(near: Node) -> list[Node]:
        return [maker for name in near.inputs if (maker := graph.producers.get(name)) is not None]

    return _walk(node, op_type, steps, makers)


def _walk(start: Node, op_type: str, steps: int, neighbours: Callable[[Node], list[Node]]) -> Node | None:
    edge, visited = [start], {start.key}
    for _ in range(steps):
        reached = {near.key: near for node in edge for near in neighbours(node) if near.key not in visited}
        visited |= reached.keys()
        edge = list(reached.values())
        match = next((neighbour for neighbour in edge if neighbour.op_type == op_type), None)
        if match is not None:
            return match
    return None
