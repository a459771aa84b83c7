"""The shape of every tensor of a graph that ran, read from its profile."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from onnx import TensorProto

from workbench.analysis.flops.cost import Tensor
from workbench.analysis.profile.tables import CountedEvents
from workbench.analysis.profile.trace import EventKind, node_name
from workbench.models.structure import bodies

_NAMES = {number: name.lower() for name, number in TensorProto.DataType.items()}  # in ORT's words


def profiled_shapes(model: Any, measured: CountedEvents) -> dict[str, Tensor]:
    """Return the shapes of each node's last call, by the tensor names of the optimized model."""
    weights = stored_shapes(model)
    shapes = weights | dict(declared_shapes(model.graph))
    nodes = {node.name: node for graph in _graphs(model.graph) for node in graph.node}
    trace = measured.trace
    for event in measured.events:
        if measured.tree.kind[event] != EventKind.NODE:
            continue
        call = trace.call_of(int(event))
        node = nodes.get(node_name(trace.name_of(int(event))))
        if call is None or call.outputs is None or node is None:
            continue
        made = [output for output in node.output if output]
        if len(made) == len(call.outputs):
            shapes |= {output: Tensor(*shape) for output, shape in zip(made, call.outputs, strict=True)}
        taken = [given for given in node.input if given]
        if call.inputs is not None and len(call.inputs) < len(taken):
            taken = [given for given in taken if given not in weights]  # the trace omits prepacked weights
        if call.inputs is not None and len(taken) == len(call.inputs):
            shapes |= {given: Tensor(*shape) for given, shape in zip(taken, call.inputs, strict=True)}
    return shapes


def stored_shapes(model: Any) -> dict[str, Tensor]:
    """Return the shapes of the weights."""
    return {
        tensor.name: Tensor(_NAMES.get(tensor.data_type), tuple(tensor.dims))
        for graph in _graphs(model.graph)
        for tensor in graph.initializer
    }


def declared_shapes(graph: Any) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors whose shapes the graph declares in full."""
    for inner in _graphs(graph):
        for value in (*inner.input, *inner.output, *inner.value_info):
            tensor = value.type.tensor_type
            if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
                continue
            dims = tensor.shape.dim
            if all(dim.HasField("dim_value") for dim in dims):
                yield value.name, Tensor(_NAMES.get(tensor.elem_type), tuple(dim.dim_value for dim in dims))


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for body in bodies(node):
            yield from _graphs(body)
