"""The graphs of a model, each with the constants and types that its nodes see, on which patterns match."""

from collections import Counter
from dataclasses import dataclass
from math import prod

import numpy as np
import onnx
from google.protobuf.message import EncodeError  # type: ignore[import-untyped]
from onnx import numpy_helper

from workbench.core.rewrites.graphs import bodies, bodies_inside, graphs

SMALL_ELEMENTS = 64  # shape inference reads the values of shapes and axes, never of weights
CONSTANTS_IR_VERSION = 4  # before it, every initializer had to be an input
DEFAULT_DOMAINS = ("", "ai.onnx")
_ROUNDING: dict[int, float] = {  # of one number, relative
    onnx.TensorProto.FLOAT16: 2**-11,
    onnx.TensorProto.BFLOAT16: 2**-8,
}
MOST_FACTORS = 16  # of a product; the GELU of tanh has four
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


class Scope:
    """A graph or subgraph: what its nodes can read, and the nodes that make and read each tensor."""

    def __init__(
        self,
        graph: onnx.GraphProto,
        constants: dict[str, onnx.TensorProto],
        types: dict[str, KnownType],
        captured: set[str],
    ) -> None:
        self.graph = graph
        self.constants = constants  # those of the graphs around it included, never those a caller can replace
        self.types = types
        self.bound = captured | {value.name for value in graph.output}  # names that must stay
        self.makers = {name: node for node in graph.node for name in node.output if name}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)

    def maker(self, name: str, *op_types: str) -> onnx.NodeProto | None:
        """Return the node that makes a tensor, if it is one of these operators of ONNX."""
        node = self.makers.get(name)
        return node if node is not None and is_standard(node, *op_types) else None

    def only_reader(self, name: str, *op_types: str) -> onnx.NodeProto | None:
        """Return the node that alone reads a tensor, if it is one of these operators of ONNX."""
        readers = self.readers.get(name, [])
        is_private = name not in self.bound and len(readers) == 1
        return readers[0] if is_private and is_standard(readers[0], *op_types) else None

    def array(self, name: str) -> np.ndarray | None:
        """Return the elements of a constant float tensor."""
        tensor = self.constants.get(name)
        if tensor is None or tensor.data_type not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
            return None
        return np.asarray(numpy_helper.to_array(tensor))

    def number(self, name: str) -> float | None:
        """Return the value of a constant with one element, which adds no dimension to what it meets."""
        tensor = self.constants.get(name)
        if tensor is None or prod(tensor.dims) != 1 or tensor.data_type == onnx.TensorProto.STRING:
            return None
        if len(tensor.dims) > 1 and not self._meets_as_many_dims(name, len(tensor.dims)):
            return None
        return float(numpy_helper.to_array(tensor).reshape(-1)[0])

    def _meets_as_many_dims(self, name: str, count: int) -> bool:
        """Return whether each node that reads this tensor reads another one with as many dims or more."""
        types = self.types
        ranks = [
            [types[other].rank or 0 for other in node.input if other != name and other in types]
            for node in self.readers.get(name, [])
        ]
        return all(max(other_ranks, default=0) >= count for other_ranks in ranks)

    def is_number(self, name: str, value: float) -> bool:
        """Return whether a tensor is this constant, to the precision of its type."""
        number = self.number(name)
        if number is None:
            return False
        closeness = _ROUNDING.get(self.constants[name].data_type, 1e-4)
        return abs(number - value) <= closeness * abs(value)

    def factors(self, name: str) -> list[str]:
        """Return what is multiplied to make a tensor: the leaves of a tree of Mul and small powers.

        A tree of more leaves than any pattern has is one factor.
        """
        leaves, waiting = list[str](), [name]
        while waiting:
            part = waiting.pop()
            node = self.makers.get(part)
            private = part not in self.bound and len(self.readers.get(part, [])) == 1
            if node is not None and private and is_standard(node, "Mul"):
                waiting += reversed(node.input)
            elif node is not None and private and is_standard(node, "Pow"):
                power = next((power for power in (2, 3) if self.is_number(node.input[1], power)), None)
                leaves += [part] if power is None else [node.input[0]] * power
            else:
                leaves.append(part)
            if len(leaves) + len(waiting) > MOST_FACTORS:
                return [name]
        return leaves

    def integers(self, node: onnx.NodeProto, attribute: str, place: int) -> list[int] | None:
        """Return integers that are an attribute, or a constant input since a later opset."""
        known = attribute_of(node, attribute)
        if known is not None:
            return list(known.ints)
        tensor = self.constants.get(node.input[place]) if len(node.input) > place else None
        return None if tensor is None else [int(value) for value in numpy_helper.to_array(tensor).reshape(-1)]


Visible = tuple[dict[str, onnx.TensorProto], dict[str, KnownType]]


def scopes_of(model: onnx.ModelProto) -> list[Scope]:
    """Return the main graph and all subgraphs. Functions are left out: their types depend on the caller."""
    scopes: list[Scope] = []
    captured = captured_names(model)
    waiting: list[tuple[onnx.GraphProto, onnx.GraphProto, Visible]]
    waiting = [(model.graph, inferred_graph(model), ({}, {}))]
    while waiting:
        graph, inferred, (outer_constants, outer_types) = waiting.pop()
        own = defined_names(graph)
        constants = {name: tensor for name, tensor in outer_constants.items() if name not in own}
        types = {name: known for name, known in outer_types.items() if name not in own}
        constants, types = {**constants, **own_constants(graph)}, {**types, **own_types(inferred)}
        scopes.append(Scope(graph, constants, types, captured))
        for node, twin in zip(graph.node, inferred.node, strict=True):
            for body, twin_body in zip(bodies(node), bodies(twin), strict=True):
                waiting.append((body, twin_body, (constants, types)))
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
        value = value_of(node) if is_standard(node, "Constant") and node.output else None
        if value is not None:
            constants[node.output[0]] = value
    return constants


def value_of(constant: onnx.NodeProto) -> onnx.TensorProto | None:
    """Return the value of a Constant as a tensor; None for text and sparse tensors."""
    if len(constant.attribute) != 1:
        return None
    attribute: onnx.AttributeProto = constant.attribute[0]
    if attribute.name == "value":
        return attribute.t
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


def attribute_of(node: onnx.NodeProto, name: str) -> onnx.AttributeProto | None:
    """Return an attribute by name."""
    return next((attribute for attribute in node.attribute if attribute.name == name), None)


def integer_of(node: onnx.NodeProto, name: str, default: int) -> int:
    """Return an integer attribute."""
    attribute = attribute_of(node, name)
    return default if attribute is None else attribute.i


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
