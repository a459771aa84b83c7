"""The graphs of a model with the constants and types that are visible in each."""

from collections import Counter
from dataclasses import dataclass
from math import prod

import onnx
from google.protobuf.message import EncodeError  # type: ignore[import-untyped]

from workbench.core.rewrites.graphs import bodies, bodies_inside, graphs

SMALL_ELEMENTS = 64  # shape inference reads the values of shapes and axes, never of weights
CONSTANTS_IR_VERSION = 4  # before it, every initializer had to be an input
DEFAULT_DOMAINS = ("", "ai.onnx")
FLOAT_TYPES = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)


def is_of_adapter(name: str) -> bool:
    """Return whether a weight belongs to a LoRA adapter, by its name: it is given with each run."""
    return "lora" in name.casefold()


@dataclass(frozen=True)
class KnownType:
    """The element type of a tensor, and its dims: a number, a symbol, or None."""

    element: int
    dims: tuple[int | str | None, ...] | None

    @property
    def rank(self) -> int | None:
        """Return the number of dims."""
        return None if self.dims is None else len(self.dims)


@dataclass(frozen=True)
class Scope:
    """A graph or subgraph with what its nodes can read, that of the graphs around it included."""

    graph: onnx.GraphProto
    constants: dict[str, onnx.TensorProto]  # never those that a caller can replace
    types: dict[str, KnownType]


Visible = tuple[dict[str, onnx.TensorProto], dict[str, KnownType]]


def scopes_of(model: onnx.ModelProto) -> list[Scope]:
    """Return the main graph and all subgraphs. Functions are left out: their types depend on the caller."""
    scopes: list[Scope] = []
    waiting: list[tuple[onnx.GraphProto, onnx.GraphProto, Visible]]
    waiting = [(model.graph, inferred_graph(model), ({}, {}))]
    while waiting:
        graph, inferred, (outer_constants, outer_types) = waiting.pop()
        own = defined_names(graph)
        constants = {name: tensor for name, tensor in outer_constants.items() if name not in own}
        types = {name: known for name, known in outer_types.items() if name not in own}
        scope = Scope(graph, {**constants, **own_constants(graph)}, {**types, **own_types(inferred)})
        scopes.append(scope)
        for node, twin in zip(graph.node, inferred.node, strict=True):
            for body, twin_body in zip(bodies(node), bodies(twin), strict=True):
                waiting.append((body, twin_body, (scope.constants, scope.types)))
    return scopes


def defined_names(graph: onnx.GraphProto) -> set[str]:
    """Return the names of the tensors that a graph defines."""
    made = {name for node in graph.node for name in node.output}
    return made | {value.name for value in graph.input} | {tensor.name for tensor in graph.initializer}


def own_constants(graph: onnx.GraphProto) -> dict[str, onnx.TensorProto]:
    """Return the initializers and the values of Constant nodes by name."""
    replaceable = {value.name for value in graph.input}
    constants = {tensor.name: tensor for tensor in graph.initializer if tensor.name not in replaceable}
    for node in graph.node:
        if is_standard(node, "Constant") and node.output:
            for attribute in node.attribute:
                if attribute.name == "value":
                    constants[node.output[0]] = attribute.t
                elif attribute.name == "value_float":
                    scalar = onnx.helper.make_tensor("", onnx.TensorProto.FLOAT, [], [attribute.f])
                    constants[node.output[0]] = scalar
    return constants


def own_types(graph: onnx.GraphProto) -> dict[str, KnownType]:
    """Return the types that a graph declares."""
    types = {tensor.name: KnownType(tensor.data_type, tuple(tensor.dims)) for tensor in graph.initializer}
    for value in (*graph.value_info, *graph.output, *graph.input):
        tensor_type = value.type.tensor_type
        if tensor_type.elem_type:
            dims = tuple(
                dim.dim_value if dim.HasField("dim_value") else dim.dim_param or None
                for dim in tensor_type.shape.dim
            )
            types[value.name] = KnownType(
                tensor_type.elem_type, dims if tensor_type.HasField("shape") else None
            )
    return types


def inferred_graph(model: onnx.ModelProto) -> onnx.GraphProto:
    """Return a copy of the main graph with inferred types; large weights are inputs of the copy."""
    copy = onnx.ModelProto(ir_version=max(model.ir_version, 4))
    copy.opset_import.extend(model.opset_import)
    graph, original = copy.graph, model.graph
    graph.name = original.name
    graph.node.extend(original.node)
    graph.input.extend(original.input)
    graph.output.extend(original.output)
    graph.value_info.extend(original.value_info)
    declared = {value.name for value in original.input}
    for tensor in original.initializer:
        if prod(tensor.dims) <= SMALL_ELEMENTS:
            graph.initializer.append(tensor)
        elif tensor.name not in declared:
            value = onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims))
            graph.input.append(value)
    try:
        return onnx.shape_inference.infer_shapes(copy).graph
    except (onnx.shape_inference.InferenceError, EncodeError, RuntimeError, ValueError):
        return graph  # the types that the file declares


def captured_names(model: onnx.ModelProto) -> set[str]:
    """Return the names that subgraphs read, which may come from the graph around them."""
    return {
        name
        for graph in bodies_inside(model.graph)
        for node in graph.node
        for name in (*node.input, *(value.name for value in graph.output))
    }


def opset_of(model: onnx.ModelProto) -> int:
    """Return the version of ONNX's own operators."""
    versions = [entry.version for entry in model.opset_import if entry.domain in DEFAULT_DOMAINS]
    return max(versions, default=0)


def is_standard(node: onnx.NodeProto, *op_types: str) -> bool:
    """Return whether a node is one of these operators of ONNX."""
    return node.op_type in op_types and node.domain in DEFAULT_DOMAINS


def names_in(model: onnx.ModelProto) -> set[str]:
    """Return the names of all tensors and nodes."""
    names = {node.name for graph in graphs(model) for node in graph.node}
    for graph in graphs(model):
        names |= {name for node in graph.node for name in (*node.input, *node.output)}
        if isinstance(graph, onnx.GraphProto):
            values = (*graph.input, *graph.output, *graph.value_info, *graph.initializer)
            names |= {value.name for value in values}
    return names


def reads_of(model: onnx.ModelProto) -> Counter[str]:
    """Return how many inputs of nodes, and outputs of graphs, read each tensor."""
    reads: Counter[str] = Counter()
    for graph in graphs(model):
        reads.update(name for node in graph.node for name in node.input)
        if isinstance(graph, onnx.GraphProto):
            reads.update(value.name for value in graph.output)
    return reads


def names_read(model: onnx.ModelProto) -> set[str]:
    """Return the tensors that any node reads or any graph gives back."""
    return {*reads_of(model)} | {
        entry.value
        for graph in graphs(model)
        if isinstance(graph, onnx.GraphProto)
        for annotation in graph.quantization_annotation
        for entry in annotation.quant_parameter_tensor_names
    }
