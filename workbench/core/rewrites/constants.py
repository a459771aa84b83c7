"""Weights that are inputs of the graph, and values of Constant nodes, as constants in the file."""

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.core.rewrites.scopes import CONSTANTS_IR_VERSION, is_of_adapter, is_standard


def take_weights_out_of_inputs(model: onnx.ModelProto) -> int:
    """Remove the initializers from the inputs of the main graph; return how many were there.

    Those of a LoRA adapter stay: a caller replaces them.
    """
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    weights |= {sparse.values.name for sparse in graph.sparse_initializer}
    places = [
        place
        for place, value in enumerate(graph.input)
        if value.name in weights and not is_of_adapter(value.name)
    ]
    for place in reversed(places):
        del graph.input[place]
    if places:
        model.ir_version = max(model.ir_version, CONSTANTS_IR_VERSION)
    return len(places)


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
        model.ir_version = max(model.ir_version, CONSTANTS_IR_VERSION)
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
