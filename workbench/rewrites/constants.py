"""Values that are attributes of Constant nodes, stored as initializers."""

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.rewrites.scopes import is_standard

CONSTANTS_SINCE_IR = 4  # before it, every initializer had to be an input


def store_constants(model: onnx.ModelProto) -> int:
    """Make an initializer of each Constant node of the main graph with a dense value; return how many."""
    graph, count = model.graph, 0
    for place in reversed(range(len(graph.node))):
        node = graph.node[place]
        tensor = _value_of(node) if is_standard(node, "Constant") else None
        if tensor is not None:
            tensor.name = node.output[0]
            graph.initializer.append(tensor)
            del graph.node[place]
            count += 1
    if count:
        model.ir_version = max(model.ir_version, CONSTANTS_SINCE_IR)
    return count


def _value_of(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """Return the value as a tensor; None for text and sparse tensors."""
    attribute = node.attribute[0] if len(node.attribute) == 1 else None
    if attribute is None:
        return None
    if attribute.name == "value":
        tensor = onnx.TensorProto()
        tensor.CopyFrom(attribute.t)
        return tensor
    values = {
        "value_float": (attribute.f, np.float32),
        "value_floats": (attribute.floats, np.float32),
        "value_int": (attribute.i, np.int64),
        "value_ints": (attribute.ints, np.int64),
    }
    if attribute.name not in values:
        return None
    value, kind = values[attribute.name]
    return numpy_helper.from_array(np.array(value, kind))
