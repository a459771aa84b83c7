"""The shape of every tensor of a graph: inferred for given dims, or as a profile saw them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from workbench.analysis.flops.cost import Tensor
from workbench.analysis.flops.folding import Arrays, fold
from workbench.analysis.profile.tables import Measured
from workbench.analysis.profile.tree import Kind, node_name

MOST_PASSES = 12  # each lets shapes travel through one more Reshape that the graph computes
_NAMES = dict(  # TensorProto's numbers in ORT's words
    enumerate(
        (
            *("float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool", "float16"),
            *("double", "uint32", "uint64", "complex64", "complex128", "bfloat16", "float8e4m3fn"),
            *("float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4", "int4"),
        ),
        start=1,
    )
)


def inferred_shapes(model: Any, dims: Mapping[str, int]) -> dict[str, Tensor]:
    """By ONNX's own inference, with symbolic dims set; what it cannot infer is left out."""
    import onnx

    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    fixed.ir_version = max(fixed.ir_version, 4)  # before, inference overlooks an initializer that is no input
    for value in fixed.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in dims:
                dim.dim_value = dims[dim.dim_param]
    del fixed.graph.value_info[:]
    for value in fixed.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.ClearField("dim_param")  # inference fills it in
    known: Arrays = {}
    for _ in range(MOST_PASSES):
        found = onnx.shape_inference.infer_shapes(fixed, data_prop=True)
        shapes = stored_shapes(found) | dict(_declared(found.graph))
        if not fold(
            fixed, {name: each.dims for name, each in shapes.items() if each.dims is not None}, known
        ):
            break
    return shapes


def profiled_shapes(model: Any, found: Measured) -> dict[str, Tensor]:
    """What each node's last call made, by the names that its outputs have in the optimized model."""
    weights = stored_shapes(model)
    shapes = weights | dict(_declared(model.graph))
    outputs = {node.name: list(node.output) for graph in _graphs(model.graph) for node in graph.node}
    inputs = {node.name: list(node.input) for graph in _graphs(model.graph) for node in graph.node}
    trace = found.trace
    for event in found.events:
        if found.tree.kind[event] != Kind.NODE:
            continue
        call = trace.call_of(int(event))
        name = node_name(trace.name_of(int(event)))
        if call is None or call.outputs is None or name not in outputs:
            continue
        made = [each for each in outputs[name] if each]
        if len(made) == len(call.outputs):
            shapes |= {each: Tensor(*shape) for each, shape in zip(made, call.outputs, strict=True)}
        taken = [each for each in inputs[name] if each]
        if call.inputs is not None and len(call.inputs) < len(taken):
            taken = [each for each in taken if each not in weights]  # prepacked ones are not told
        if call.inputs is not None and len(taken) == len(call.inputs):
            shapes |= {each: Tensor(*shape) for each, shape in zip(taken, call.inputs, strict=True)}
    return shapes


def stored_shapes(model: Any) -> dict[str, Tensor]:
    """Of the weights."""
    return {
        tensor.name: Tensor(_NAMES.get(tensor.data_type), tuple(tensor.dims))
        for graph in _graphs(model.graph)
        for tensor in graph.initializer
    }


def _declared(graph: Any) -> Iterator[tuple[str, Tensor]]:
    for each in _graphs(graph):
        for value in (*each.input, *each.output, *each.value_info):
            tensor = value.type.tensor_type
            if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
                continue
            dims = tensor.shape.dim
            if all(dim.HasField("dim_value") for dim in dims):
                yield value.name, Tensor(_NAMES.get(tensor.elem_type), tuple(dim.dim_value for dim in dims))


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _graphs(attribute.g)
