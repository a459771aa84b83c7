"""The makers and readers of tensors in one graph: what patterns are matched on."""

from math import prod

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.rewrites.scopes import Scope, captured_names, graphs_of, is_standard, names_read, scopes_of


class Wiring:
    """One graph with the nodes that make and read each tensor."""

    def __init__(self, scope: Scope, captured: set[str]) -> None:
        self.scope, self.graph = scope, scope.graph
        self.bound = captured | {value.name for value in scope.graph.output}  # names that must stay
        self.makers = {name: node for node in self.graph.node for name in node.output if name}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in self.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)

    def maker(self, name: str, *op_types: str) -> onnx.NodeProto | None:
        """Return the node that makes a tensor, if it is one of these operators of ONNX."""
        node = self.makers.get(name)
        return node if node is not None and any(is_standard(node, kind) for kind in op_types) else None

    def only_reader(self, name: str, *op_types: str) -> onnx.NodeProto | None:
        """Return the node that alone reads a tensor, if it is one of these operators of ONNX."""
        readers = self.readers.get(name, [])
        if name in self.bound or len(readers) != 1:
            return None
        return readers[0] if any(is_standard(readers[0], kind) for kind in op_types) else None

    def array(self, name: str) -> np.ndarray | None:
        """Return the elements of a constant float tensor."""
        tensor = self.scope.constants.get(name)
        if tensor is None or tensor.data_type not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
            return None
        return np.asarray(numpy_helper.to_array(tensor))

    def number(self, name: str) -> float | None:
        """Return the value of a constant with one element."""
        tensor = self.scope.constants.get(name)
        if tensor is None or prod(tensor.dims) != 1 or tensor.data_type == onnx.TensorProto.STRING:
            return None
        return float(numpy_helper.to_array(tensor).reshape(-1)[0])

    def is_number(self, name: str, value: float) -> bool:
        """Return whether a tensor is this constant, to float32's precision."""
        number = self.number(name)
        return number is not None and abs(number - value) <= 1e-4 * abs(value)

    def factors(self, name: str) -> list[str]:
        """Return what is multiplied to make a tensor: the leaves of a tree of Mul and small powers."""
        node = self.makers.get(name)
        private = name not in self.bound and len(self.readers.get(name, [])) == 1
        if node is None or not private:
            return [name]
        if is_standard(node, "Mul"):
            return [factor for part in node.input for factor in self.factors(part)]
        if is_standard(node, "Pow"):
            for power in (2, 3):
                if self.is_number(node.input[1], power):
                    return [node.input[0]] * power
        return [name]

    def integers(self, node: onnx.NodeProto, attribute: str, place: int) -> list[int] | None:
        """Return integers that are an attribute, or a constant input since a later opset."""
        for known in node.attribute:
            if known.name == attribute:
                return list(known.ints)
        tensor = self.scope.constants.get(node.input[place]) if len(node.input) > place else None
        return None if tensor is None else [int(value) for value in numpy_helper.to_array(tensor).reshape(-1)]


def wirings_of(model: onnx.ModelProto) -> list[Wiring]:
    """Return the wiring of the main graph and of all subgraphs."""
    captured = captured_names(model)
    return [Wiring(scope, captured) for scope in scopes_of(model)]


def remove_unread_nodes(model: onnx.ModelProto, candidates: list[onnx.NodeProto]) -> None:
    """Remove those of these nodes whose results nothing reads any more, and what only they read."""
    chosen = {id(node) for node in candidates}
    while True:
        read, removed = names_read(model), False
        for graph in graphs_of(model):
            for place in reversed(range(len(graph.node))):
                node = graph.node[place]
                if id(node) in chosen and not read & set(node.output):
                    chosen.discard(id(node))
                    del graph.node[place]
                    removed = True
        if not removed:
            return


def remove_stale_types(model: onnx.ModelProto) -> None:
    """Remove declared types of tensors that no node of the main graph makes any more."""
    graph = model.graph
    made = {name for node in graph.node for name in node.output}
    for place in reversed(range(len(graph.value_info))):
        if graph.value_info[place].name not in made:
            del graph.value_info[place]


def attribute_of(node: onnx.NodeProto, name: str) -> onnx.AttributeProto | None:
    """Return an attribute by name."""
    return next((attribute for attribute in node.attribute if attribute.name == name), None)
