"""Casts of floats to a wider type and straight back, left out: no value changes."""

import onnx

from workbench.core.rewrites.graphs import with_bodies
from workbench.core.rewrites.scopes import Scope, is_standard, names_read, scopes_of
from workbench.core.rewrites.wiring import attribute_of

FLOAT, DOUBLE = onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE
WIDER: dict[int, tuple[int, ...]] = {  # types that hold every value of the first one
    onnx.TensorProto.FLOAT16: (FLOAT, DOUBLE),
    onnx.TensorProto.BFLOAT16: (FLOAT, DOUBLE),
    FLOAT: (DOUBLE,),
}


def remove_cast_pairs(model: onnx.ModelProto) -> int:
    """Make an Identity of each Cast that goes back; remove first Casts that nothing reads any more."""
    count = 0
    for scope in scopes_of(model):
        makers = {node.output[0]: node for node in scope.graph.node if is_standard(node, "Cast")}
        for node in makers.values():
            first = makers.get(node.input[0])
            if first is not None and _goes_back(first, node, scope):
                node.op_type = "Identity"
                node.input[0] = first.input[0]
                del node.attribute[:]
                count += 1
    if count:
        _remove_dead_casts(model)
    return count


def _goes_back(first: onnx.NodeProto, second: onnx.NodeProto, scope: Scope) -> bool:
    """Return whether two Casts lead from a float type through a wider one to the same."""
    start = scope.types.get(first.input[0])
    if start is None:
        return False
    return _cast_target(first) in WIDER.get(start.element, ()) and _cast_target(second) == start.element


def _cast_target(node: onnx.NodeProto) -> int | None:
    target = attribute_of(node, "to")
    return None if target is None else target.i


def _remove_dead_casts(model: onnx.ModelProto) -> None:
    read = names_read(model)
    for graph in with_bodies(model.graph):
        for place in reversed(range(len(graph.node))):
            if is_standard(graph.node[place], "Cast") and graph.node[place].output[0] not in read:
                del graph.node[place]
