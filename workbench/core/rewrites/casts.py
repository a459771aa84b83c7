"""Casts of floats to a wider type and straight back, left out: no value changes."""

import onnx

from workbench.core.rewrites.edits import remove_unread_nodes
from workbench.core.rewrites.scopes import Scope, integer_of, is_standard, scopes_of

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
        for node in [node for node in scope.graph.node if is_standard(node, "Cast")]:
            first = scope.maker(node.input[0], "Cast")
            if first is not None and _goes_back(first, node, scope):
                node.op_type = "Identity"
                node.input[0] = first.input[0]
                del node.attribute[:]
                count += 1
    if count:
        remove_unread_nodes(model, "Cast")
    return count


def _goes_back(first: onnx.NodeProto, second: onnx.NodeProto, scope: Scope) -> bool:
    """Return whether two Casts lead from a float type through a wider one to the same."""
    start = scope.types.get(first.input[0])
    if start is None:
        return False
    wider, back = (integer_of(node, "to", onnx.TensorProto.UNDEFINED) for node in (first, second))
    return wider in WIDER.get(start.element, ()) and back == start.element
