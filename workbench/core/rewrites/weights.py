"""Weights that cost more than they hold: denormal, stored twice, read by nobody."""

from collections.abc import Iterator
from hashlib import sha256

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.core.rewrites.edits import remove_named
from workbench.core.rewrites.graphs import bodies_inside, graphs, with_bodies
from workbench.core.rewrites.scopes import defined_names, names_read

LEAST_SHARED_BYTES = 1024  # scalars stay apart: a pattern may want its own
DENORMAL_TYPES = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)


def set_denormals_to_zero(model: onnx.ModelProto) -> int:
    """Set denormal elements of stored float32 and float64 tensors to 0; return how many elements."""
    count = 0
    for tensor in _stored_tensors(model):
        if tensor.data_type not in DENORMAL_TYPES:
            continue
        values = numpy_helper.to_array(tensor)
        is_denormal = (values != 0) & (np.abs(values) < np.finfo(values.dtype).tiny)
        denormals = int(np.count_nonzero(is_denormal))
        if denormals:
            replaced = numpy_helper.from_array(np.where(is_denormal, values.dtype.type(0), values))
            tensor.ClearField("float_data")
            tensor.ClearField("double_data")
            tensor.raw_data = replaced.raw_data
            count += denormals
    return count


def _stored_tensors(model: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    for graph in graphs(model):
        if isinstance(graph, onnx.GraphProto):
            yield from graph.initializer
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    yield attribute.t


def share_duplicated_weights(model: onnx.ModelProto) -> int:
    """Let one initializer of the main graph stand for all with the same type, shape and bytes."""
    graph = model.graph
    bound = {value.name for value in (*graph.input, *graph.output)}
    for body in bodies_inside(graph):
        bound |= defined_names(body)  # the name may mean another tensor there
    kept: dict[tuple[int, tuple[int, ...], bytes], str] = {}
    stands_for: dict[str, str] = {}
    for tensor in graph.initializer:
        if tensor.name in bound or tensor.data_type == onnx.TensorProto.STRING:
            continue
        data = numpy_helper.to_array(tensor).tobytes()
        if len(data) >= LEAST_SHARED_BYTES:
            key = (tensor.data_type, tuple(tensor.dims), sha256(data).digest())
            first = kept.setdefault(key, tensor.name)
            if first != tensor.name:
                stands_for[tensor.name] = first
    for body in with_bodies(graph):
        for node in body.node:
            for place, name in enumerate(node.input):
                node.input[place] = stands_for.get(name, name)
    _remove_initializers(graph, set(stands_for))
    return len(stands_for)


def remove_unused_weights(model: onnx.ModelProto) -> int:
    """Remove initializers that nothing reads, in subgraphs too; return how many."""
    read = names_read(model)
    count = 0
    for graph in graphs(model):
        if isinstance(graph, onnx.GraphProto):
            inputs = {value.name for value in graph.input}  # without its value, such an input must be fed
            unused = {tensor.name for tensor in graph.initializer} - read - inputs
            _remove_initializers(graph, unused)
            count += len(unused)
    return count


def _remove_initializers(graph: onnx.GraphProto, names: set[str]) -> None:
    remove_named(graph.initializer, names)
    remove_named(graph.value_info, names)
