"""The makers and readers of tensors in one graph, on which patterns are matched, and changes of graphs."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.core.rewrites.scopes import Scope, captured_names, is_standard, names_in, names_read, scopes_of

_ROUNDING: dict[int, float] = {  # of one number, relative
    onnx.TensorProto.FLOAT16: 2**-11,
    onnx.TensorProto.BFLOAT16: 2**-8,
}
MOST_FACTORS = 16  # of a product; the GELU of tanh has four


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
        return node if node is not None and is_standard(node, *op_types) else None

    def only_reader(self, name: str, *op_types: str) -> onnx.NodeProto | None:
        """Return the node that alone reads a tensor, if it is one of these operators of ONNX."""
        readers = self.readers.get(name, [])
        is_private = name not in self.bound and len(readers) == 1
        return readers[0] if is_private and is_standard(readers[0], *op_types) else None

    def array(self, name: str) -> np.ndarray | None:
        """Return the elements of a constant float tensor."""
        tensor = self.scope.constants.get(name)
        if tensor is None or tensor.data_type not in (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE):
            return None
        return np.asarray(numpy_helper.to_array(tensor))

    def number(self, name: str) -> float | None:
        """Return the value of a constant with one element, which adds no dimension to what it meets."""
        tensor = self.scope.constants.get(name)
        if tensor is None or prod(tensor.dims) != 1 or tensor.data_type == onnx.TensorProto.STRING:
            return None
        if len(tensor.dims) > 1 and not self._meets_as_many_dims(name, len(tensor.dims)):
            return None
        return float(numpy_helper.to_array(tensor).reshape(-1)[0])

    def _meets_as_many_dims(self, name: str, count: int) -> bool:
        """Return whether each node that reads this tensor reads another one with as many dims or more."""
        types = self.scope.types
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
        closeness = _ROUNDING.get(self.scope.constants[name].data_type, 1e-4)
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
        tensor = self.scope.constants.get(node.input[place]) if len(node.input) > place else None
        return None if tensor is None else [int(value) for value in numpy_helper.to_array(tensor).reshape(-1)]


def wirings_of(model: onnx.ModelProto) -> list[Wiring]:
    """Return the wiring of the main graph and of all subgraphs."""
    captured = captured_names(model)
    return [Wiring(scope, captured) for scope in scopes_of(model)]


class Additions:
    """The names in a model, and the constants that are added to it."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model, self.taken = model, names_in(model)

    def name(self, stem: str) -> str:
        """Return a name that nothing has, and take it."""
        name, number = stem, 0
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        return name

    def node_name(self, node: onnx.NodeProto, ending: str) -> str:
        """Return a name for a node beside this one; none beside a node without a name."""
        return self.name(f"{node.name}_{ending}") if node.name else ""

    def constant(self, stem: str, array: np.ndarray) -> str:
        """Add an initializer to the main graph, and return its name."""
        name = self.name(stem)
        self.model.graph.initializer.append(numpy_helper.from_array(array, name))
        return name


SpellOut = Callable[[onnx.NodeProto, Wiring, Additions], list[onnx.NodeProto]]


def replace_nodes(model: onnx.ModelProto, op_type: str, spell_out: SpellOut) -> int:
    """Replace each operator of this type by the nodes spelled out, none where it stays; return how many."""
    new, count = Additions(model), 0
    for wiring in wirings_of(model):
        for place in reversed(range(len(wiring.graph.node))):
            node = wiring.graph.node[place]
            made = spell_out(node, wiring, new) if is_standard(node, op_type) else []
            if made:
                put_in_place(wiring.graph, place, made)
                count += 1
    return count


def put_in_place(graph: onnx.GraphProto, place: int, nodes: list[onnx.NodeProto]) -> None:
    """Replace the node at a place by others."""
    del graph.node[place]
    for node in reversed(nodes):
        graph.node.insert(place, node)


def remove_named(entries: Any, names: set[str]) -> None:
    """Remove the entries of these names from a repeated field."""
    for place in reversed(range(len(entries))):
        if entries[place].name in names:
            del entries[place]


def remove_unread_nodes(model: onnx.ModelProto, *op_types: str) -> None:
    """Remove nodes of these types from the main graph whose results nothing reads any more."""
    nodes, is_done = model.graph.node, False
    while not is_done:
        read, is_done = names_read(model), True
        for place in reversed(range(len(nodes))):
            if nodes[place].op_type in op_types and not read & set(nodes[place].output):
                del nodes[place]
                is_done = False
    remove_stale_types(model.graph)


def remove_stale_types(graph: onnx.GraphProto) -> None:
    """Remove declared types of tensors that no node of a graph makes any more."""
    made = {name for node in graph.node for name in node.output}
    remove_named(graph.value_info, {value.name for value in graph.value_info} - made)


def attribute_of(node: onnx.NodeProto, name: str) -> onnx.AttributeProto | None:
    """Return an attribute by name."""
    return next((attribute for attribute in node.attribute if attribute.name == name), None)
