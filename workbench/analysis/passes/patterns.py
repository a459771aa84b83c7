"""Patterns in the source graph that ORT has a fusion for, found by their anchor and its neighbours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from workbench.analysis.graph import Graph, Node
from workbench.analysis.passes.attention import attention
from workbench.analysis.passes.conditions import half_first, is_constant, summands

QDQ = "QDQ to integer kernel"
ACTIVATIONS = ("Relu", "Sigmoid", "Tanh", "LeakyRelu", "Clip", "HardSigmoid")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One place where a pattern stands. `blocked`: the condition that fails there, where we can see it.

    `later` says what fails in the graph after the basic level, for fusions that look at it only then.
    """

    pattern: str
    nodes: tuple[str, ...]
    passes: tuple[str, ...]  # that would have done it
    blocked: str | None
    later: Callable[[Graph], str | None] | None = None


def occurrences(graph: Graph) -> Iterator[Occurrence]:
    """Find every place of every pattern."""
    for node in graph.nodes:
        for find in _FINDERS:
            occurrence = find(graph, node)
            if occurrence is not None:
                yield occurrence


def _attention(graph: Graph, node: Node) -> Occurrence | None:
    """Find a Softmax between two products, whatever masks and scales stand between."""
    if node.op_type != "Softmax":
        return None
    after = _next(graph, node, "MatMul", steps=3)
    before = _before(graph, node, "MatMul", steps=5)
    if after is None or before is None:
        return None
    keys = (before.key, node.key, after.key)
    return Occurrence(
        "attention",
        keys,
        ("AttentionFusion", "GroupQueryAttentionFusion"),
        None,
        lambda basic: attention(basic, keys),
    )


def _layer_norm(graph: Graph, node: Node) -> Occurrence | None:
    if node.op_type != "Div":
        return None
    root = _before(graph, node, "Sqrt", steps=1)
    mean = _before(graph, root, "ReduceMean", steps=3) if root else None
    if root is None or mean is None:
        return None
    scale = _next(graph, node, "Mul", steps=1)
    return Occurrence(
        "layer norm",
        (mean.key, root.key, node.key),
        ("LayerNormFusionL1", "LayerNormFusionL2", "SimplifiedLayerNormFusion"),
        None if scale else "no Mul with a scale follows the Div",
    )


def _gelu(graph: Graph, node: Node) -> Occurrence | None:
    if node.op_type != "Erf":
        return None
    add = _next(graph, node, "Add", steps=1)
    mul = _next(graph, add, "Mul", steps=1) if add else None
    blocked = half_first(graph, mul) if mul else "no Add and Mul follow the Erf"
    if len(graph.readers.get(node.outputs[0], ())) > 1:
        blocked = "the Erf has more than one reader"
    nodes = tuple(part.key for part in (node, add, mul) if part)
    return Occurrence("gelu", nodes, ("GeluFusionL1", "GeluFusionL2"), blocked)


def _skip_layer_norm(graph: Graph, node: Node) -> Occurrence | None:
    if node.op_type not in ("LayerNormalization", "SimplifiedLayerNormalization"):
        return None
    add = graph.producers.get(node.inputs[0])
    if add is None or add.op_type != "Add" or any(name in graph.constants for name in add.inputs):
        return None
    readers = len(graph.readers.get(add.outputs[0], ()))
    blocked = f"the sum has {readers} readers" if readers > 1 else summands(graph, add)
    return Occurrence(
        "skip layer norm",
        (add.key, node.key),
        ("SkipLayerNormFusion", "EmbedLayerNormFusion"),
        blocked,
    )


def _conv_bn(graph: Graph, node: Node) -> Occurrence | None:
    conv = (
        graph.producers.get(node.inputs[0]) if node.op_type == "BatchNormalization" and node.inputs else None
    )
    if conv is None or conv.op_type != "Conv":
        return None
    return Occurrence("conv + batch norm", (conv.key, node.key), ("ConvBNFusion",),
                      _one_reader(graph, conv) or _constant_weight(graph, conv))  # fmt: skip


def _conv_activation(graph: Graph, node: Node) -> Occurrence | None:
    conv = graph.producers.get(node.inputs[0]) if node.op_type in ACTIVATIONS and node.inputs else None
    if conv is not None and conv.op_type == "BatchNormalization":
        conv = graph.producers.get(conv.inputs[0])
    if conv is None or conv.op_type != "Conv" or _is_gate(graph, node):
        return None
    blocked = _one_reader(graph, conv)
    if node.op_type == "Clip" and any(name and not is_constant(graph, name) for name in node.inputs[1:]):
        blocked = "the bounds of the Clip are no constants"
    return Occurrence("conv + activation", (conv.key, node.key),
                      ("ConvActivationFusion", "NchwcTransformer"), blocked)  # fmt: skip


def _silu(graph: Graph, node: Node) -> Occurrence | None:
    if not _is_gate(graph, node):
        return None
    mul = next(reader for reader in graph.readers[node.outputs[0]] if node.inputs[0] in reader.inputs)
    readers = len(graph.readers[node.outputs[0]])
    return Occurrence("silu", (node.key, mul.key), ("QuickGeluFusion",),
                      f"{node.key} has {readers} readers" if readers > 1 else None)  # fmt: skip


def _is_gate(graph: Graph, node: Node) -> bool:
    """Return whether a Sigmoid multiplies its own input (SiLU), which ORT does not fuse into a Conv."""
    return node.op_type == "Sigmoid" and any(
        reader.op_type == "Mul" and node.inputs[0] in reader.inputs
        for reader in graph.readers.get(node.outputs[0], ())
    )


def _qdq(graph: Graph, node: Node) -> Occurrence | None:
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
    nodes = (*(maker.key for maker in makers if maker), node.key, *((after.key,) if after else ()))
    return Occurrence(QDQ, nodes, ("QDQSelectorActionTransformer",), blocked)


_FINDERS: tuple[Callable[[Graph, Node], Occurrence | None], ...] = (
    _attention, _layer_norm, _gelu, _skip_layer_norm, _conv_bn, _conv_activation,
    _silu, _qdq,
)  # fmt: skip


def _one_reader(graph: Graph, node: Node) -> str | None:
    readers = len(graph.readers.get(node.outputs[0], ()))
    if readers > 1:
        return f"{node.key} has {readers} readers"
    return f"{node.key} makes an output of the model" if node.outputs[0] in graph.outputs else None


def _constant_weight(graph: Graph, conv: Node) -> str | None:
    return None if is_constant(graph, conv.inputs[1]) else f"the weight of {conv.key} is no constant"


def _next(graph: Graph, node: Node, op_type: str, *, steps: int) -> Node | None:
    """Find the nearest node of an operator among those that read what a node makes."""

    def readers(near: Node) -> list[Node]:
        return [reader for name in near.outputs for reader in graph.readers.get(name, ())]

    return _walk(node, op_type, steps, readers)


def _before(graph: Graph, node: Node, op_type: str, *, steps: int) -> Node | None:
    """Find the nearest node of an operator among those that make what a node reads."""

    def makers(near: Node) -> list[Node]:
        return [maker for name in near.inputs if (maker := graph.producers.get(name)) is not None]

    return _walk(node, op_type, steps, makers)


def _walk(start: Node, op_type: str, steps: int, neighbours: Callable[[Node], list[Node]]) -> Node | None:
    near, visited = [start], {start.key}
    for _ in range(steps):
        near = [neighbour for node in near for neighbour in neighbours(node) if neighbour.key not in visited]
        visited.update(neighbour.key for neighbour in near)
        match = next((neighbour for neighbour in near if neighbour.op_type == op_type), None)
        if match is not None:
            return match
    return None
