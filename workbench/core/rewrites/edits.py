"""Changes of a graph: new names and constants, nodes in the place of others, entries that go."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from workbench.core.rewrites.graphs import with_bodies
from workbench.core.rewrites.scopes import Scope, is_standard, names_in, names_read, scopes_of


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


SpellOut = Callable[[onnx.NodeProto, Scope, Additions], list[onnx.NodeProto]]


def replace_nodes(model: onnx.ModelProto, op_type: str, spell_out: SpellOut) -> int:
    """Replace each operator of this type by the nodes spelled out, none where it stays; return how many."""
    new, count = Additions(model), 0
    for scope in scopes_of(model):
        for place in reversed(range(len(scope.graph.node))):
            node = scope.graph.node[place]
            made = spell_out(node, scope, new) if is_standard(node, op_type) else []
            if made:
                put_in_place(scope.graph, place, made)
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
    """Remove nodes of these types whose results nothing reads any more, in subgraphs too."""
    count = 1
    while count:
        read, count = names_read(model), 0
        for graph in with_bodies(model.graph):
            unread = [node.op_type in op_types and read.isdisjoint(node.output) for node in graph.node]
            for place in reversed(range(len(unread))):
                if unread[place]:
                    del graph.node[place]
                    count += 1
    for graph in with_bodies(model.graph):
        remove_stale_types(graph)


def remove_stale_types(graph: onnx.GraphProto) -> None:
    """Remove declared types of tensors that no node of a graph makes any more."""
    made = {name for node in graph.node for name in node.output}
    remove_named(graph.value_info, {value.name for value in graph.value_info} - made)
