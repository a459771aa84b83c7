"""The producers and consumers of each value of a graph; model functions are unfolded call by call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.models.graph_walk import GraphWalk, WalkedNode

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

_MAX_CALLS = 16  # nested functions; deeper ones are not followed
_MAX_STEPS = 64  # pass-through nodes between a table and its reader
_MAX_AXES = 64  # NumPy's
_MAX_CONSTANT = 4096  # elements of a constant that is read
_SAME_SHAPE = frozenset({"Identity", "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "Dropout"})


class GraphIndex:
    """The readers, makers, shapes and stored values of a graph with its subgraphs, or of a function."""

    def __init__(self, graph: GraphProto) -> None:
        walk = GraphWalk(graph)
        self.inputs = [value.name for value in graph.input if value.name not in walk.stored]
        self.places = {name: place for place, name in enumerate(self.inputs)}
        self.infos = walk.infos | walk.constants
        self.stored: dict[str, TensorProto] = walk.stored
        self.readers: dict[str, list[tuple[WalkedNode, int]]] = defaultdict(list)
        self.makers: dict[str, WalkedNode] = {}
        self.constants: dict[str, np.ndarray[Any, Any] | None] = {}  # that were read
        for node in sorted(walk.nodes, key=lambda node: len(node.scope)):  # outer ones first
            for position, name in enumerate(node.inputs):
                if name:
                    self.readers[name].append((node, position))
            for name in node.outputs:
                self.makers.setdefault(name, node)
            if node.op_type == "Constant" and node.outputs:
                values = (attribute.t for attribute in node.proto.attribute if attribute.name == "value")
                self.stored.update((node.outputs[0], value) for value in values)


class GraphScope:
    """The main graph with its subgraphs, or one call of a function. Values are named by their keys."""

    def __init__(
        self,
        model: ModelProto,
        parent: GraphScope | None = None,
        index: GraphIndex | None = None,
        given: tuple[str, ...] = (),
    ) -> None:
        self.model = model
        self.parent = parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._index = index or GraphIndex(model.graph)
        self.input_count = len(self._index.inputs)  # without weights that are inputs, too
        self._given = given  # the caller's values of a function's inputs
        self._calls: dict[str, GraphScope] = {}
        self._function: Callable[[str, str], GraphIndex | None]
        self._function = _functions(model) if parent is None else parent._function

    def readers(self, name: str) -> list[tuple[WalkedNode, int]]:
        """Return the nodes that read a value, each with the position of the input."""
        return self._index.readers.get(name, [])

    def call(self, node: WalkedNode) -> GraphScope | None:
        """Return the scope of the function that a node calls, or None for an operator."""
        index = self._function(node.proto.domain, node.op_type)
        if index is None or self.depth >= _MAX_CALLS:
            return None
        if node.key not in self._calls:
            self._calls[node.key] = GraphScope(self.model, self, index, node.inputs)
        return self._calls[node.key]

    def parameter(self, position: int) -> Iterator[str]:
        """Yield the name of the input of a called function at a position, if there is one."""
        yield from self._index.inputs[position : position + 1]

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the dims of a value if they are fixed, also through nodes that keep them."""
        scope: GraphScope | None = self
        order: tuple[int, ...] | None = None
        for _ in range(_MAX_STEPS):
            if scope is None:
                return None
            dims = scope._own_shape(name)
            if dims is not None:
                return (
                    dims if order is None or len(order) != len(dims) else tuple(dims[axis] for axis in order)
                )
            maker = scope._index.makers.get(name)
            if maker is None:
                place = scope._index.places.get(name, len(scope._given))
                if place >= len(scope._given):
                    return None
                name, scope = scope._given[place], scope.parent
            elif maker.op_type in _SAME_SHAPE and maker.inputs:
                name = maker.inputs[0]
            elif maker.op_type == "Transpose" and order is None and maker.inputs:
                order = _permutation(maker.proto)
                if order is None:
                    return None
                name = maker.inputs[0]
            else:
                return None
        return None

    def _own_shape(self, name: str) -> tuple[int, ...] | None:
        """Return the stored or declared dims of a value if they are fixed."""
        if name in self._index.stored:
            return tuple(self._index.stored[name].dims)
        return self._index.infos[name].shape if name in self._index.infos else None

    def constant(self, name: str) -> np.ndarray[Any, Any] | None:
        """Return the values of a small stored number or table, None of anything else."""
        if name not in self._index.constants:
            self._index.constants[name] = _values(self._index.stored.get(name))
        return self._index.constants[name]


def _values(tensor: TensorProto | None) -> np.ndarray[Any, Any] | None:
    if tensor is None or prod(tensor.dims) > _MAX_CONSTANT or tensor.data_location:
        return None
    from onnx import numpy_helper

    try:
        values = numpy_helper.to_array(tensor)
    except (ValueError, TypeError, KeyError):  # its data were left out, or are no tensor
        return None
    return values if values.dtype.kind in "biuf" else None


def carried(node: WalkedNode, position: int) -> Iterator[str]:
    """Yield the value that a Loop or Scan passes its input to, in its body."""
    if node.op_type in ("Loop", "Scan") and node.given:
        yield from node.given[0][position : position + 1]


def integer(node: NodeProto, name: str, default: int) -> int:
    """Return an integer attribute."""
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), default)


def _permutation(node: NodeProto) -> tuple[int, ...] | None:
    axes = (axis for attribute in node.attribute if attribute.name == "perm" for axis in attribute.ints)
    order = tuple(islice(axes, _MAX_AXES))
    return order if order and sorted(order) == list(range(len(order))) else None


def _functions(model: ModelProto) -> Callable[[str, str], GraphIndex | None]:
    """Return what gives the index of a function of the model by its domain and name."""
    protos = {(function.domain, function.name): function for function in reversed(model.functions)}

    @cache
    def index_of(domain: str, name: str) -> GraphIndex | None:
        function = protos.get((domain, name))
        return None if function is None else GraphIndex(_body(function))

    return index_of


def _body(function: FunctionProto) -> GraphProto:
    """Return the nodes of a function as a graph, whose inputs have the type of what it is called with."""
    from onnx import GraphProto, ValueInfoProto

    inputs = [ValueInfoProto(name=name) for name in function.input]
    return GraphProto(node=function.node, input=inputs, value_info=function.value_info)
