"""Conditions of ORT's fusions that a graph can be seen to fail; tests try those of gelu and layer norm."""

from __future__ import annotations

from workbench.analysis.graph import Graph, Node


def half_first(graph: Graph, mul: Node) -> str | None:
    """Check the Mul that follows 1 + erf in a Gelu."""
    if not any(is_constant(graph, name) for name in mul.inputs):
        return None
    return "half of 1 + erf is taken before it multiplies x; ORT's fusion wants x × (1 + erf) or x / 2 first"


def summands(graph: Graph, add: Node) -> str | None:
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


def is_constant(graph: Graph, name: str) -> bool:
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
