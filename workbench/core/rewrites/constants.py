"""Weights that are inputs of the graph, and values of Constant nodes, as constants in the file."""

import onnx

from workbench.core.rewrites.scopes import CONSTANTS_IR_VERSION, is_of_adapter, is_standard, value_of


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
        tensor = value_of(node) if is_standard(node, "Constant") else None
        if tensor is not None:
            graph.initializer.append(tensor)
            graph.initializer[-1].name = node.output[0]
            del graph.node[place]
            count += 1
    if count:
        model.ir_version = max(model.ir_version, CONSTANTS_IR_VERSION)
    return count
