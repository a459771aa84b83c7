"""Weights that are inputs of the graph become constants."""

import onnx

LEAST_IR_VERSION = 4  # before it, every initializer had to be an input


def take_weights_out_of_inputs(model: onnx.ModelProto) -> int:
    """Remove the initializers from the inputs of the main graph; return how many were there."""
    graph = model.graph
    weights = {tensor.name for tensor in graph.initializer}
    weights |= {sparse.values.name for sparse in graph.sparse_initializer}
    places = [place for place, value in enumerate(graph.input) if value.name in weights]
    for place in reversed(places):
        del graph.input[place]
    if places:
        model.ir_version = max(model.ir_version, LEAST_IR_VERSION)
    return len(places)
