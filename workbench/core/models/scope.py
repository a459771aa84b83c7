"""The producers and consumers of each value of a graph; model functions are unfolded call by call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.models.declared import TensorType, value_type
from workbench.core.rewrites.graphs import bodies, bodies_inside

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

_MAX_CALLS = 16  # nested functions; deeper ones are not followed
_MAX_STEPS = 64  # pass-through nodes between a table and its reader
_MAX_CONSTANT = 4096  # elements of a constant that is read
_SAME_SHAPE = frozenset({"Identity", "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "Dropout"})


class GraphScope:
    """The main graph with its subgraphs (their names never clash), or one call of a function."""

    def __init__(
        self,
        model: ModelProto,
        graph: GraphProto | FunctionProto,
        parent: GraphScope | None = None,
        bound: Mapping[str, str] | None = None,
    ) -> None:
        self.parent = parent
        self.bound = dict(bound or {})  # a function's input → the caller's value
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._model = model
        self._calls: dict[int, GraphScope] = {}
        self._readers: dict[str, list[tuple[NodeProto, int]]] = defaultdict(list)
        self._makers: dict[str, NodeProto] = {}
        self._stored: dict[str, TensorProto] = {}
        self._shapes: dict[str, tuple[int, ...]] = {}
        self._note(graph)
        for inner in bodies_inside(graph):
            self._note(inner)

    def readers(self, name: str) -> list[tuple[NodeProto, int]]:
        """Return the nodes that read a value, each with the position of the input."""
        return self._readers.get(name, [])

    def call(self, node: NodeProto) -> GraphScope | None:
        """Return the scope of the function that a node calls, or None for an operator."""
        if self.depth >= _MAX_CALLS:
            return None
        if id(node) not in self._calls:
            for function in self._model.functions:
                if (function.domain, function.name) == (node.domain, node.op_type):
                    bound = dict(zip(function.input, node.input, strict=False))
                    self._calls[id(node)] = GraphScope(self._model, function, self, bound)
                    break
        return self._calls.get(id(node))

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the dims of a value if they are fixed, also through nodes that keep them."""
        scope: GraphScope | None = self
        order: tuple[int, ...] | None = None
        for _ in range(_MAX_STEPS):
            if scope is None:
                return None
            tensor = scope._stored.get(name)
            dims = scope._shapes.get(name) if tensor is None else tuple(tensor.dims)
            if dims is not None:
                return (
                    dims if order is None or len(order) != len(dims) else tuple(dims[axis] for axis in order)
                )
            maker = scope._makers.get(name)
            if maker is None:
                if name not in scope.bound:
                    return None
                name, scope = scope.bound[name], scope.parent
            elif maker.op_type in _SAME_SHAPE and maker.input:
                name = maker.input[0]
            elif maker.op_type == "Transpose" and order is None and maker.input:
                order = _permutation(maker)
                if order is None:
                    return None
                name = maker.input[0]
            else:
                return None
        return None

    def constant(self, name: str) -> np.ndarray[Any, Any] | None:
        """Return the values of a small stored number or table, None of anything else."""
        tensor = self._stored.get(name)
        if tensor is None or prod(tensor.dims) > _MAX_CONSTANT or tensor.data_location:
            return None
        from onnx import numpy_helper

        try:
            values = numpy_helper.to_array(tensor)
        except (ValueError, TypeError, KeyError):  # its data were left out, or are no tensor
            return None
        return values if values.dtype.kind in "biuf" else None

    def _note(self, graph: GraphProto | FunctionProto) -> None:
        from onnx import GraphProto

        for node in graph.node:
            for position, name in enumerate(node.input):
                if name:
                    self._readers[name].append((node, position))
            for name in node.output:
                self._makers.setdefault(name, node)
            for attribute in node.attribute:
                if node.op_type == "Constant" and attribute.name == "value" and node.output:
                    self._stored[node.output[0]] = attribute.t
        if isinstance(graph, GraphProto):
            self._stored.update((tensor.name, tensor) for tensor in graph.initializer)
            for value in (*graph.input, *graph.output, *graph.value_info):
                kind = value_type(value.type)
                if isinstance(kind, TensorType) and kind.dims is not None:
                    fixed = tuple(dim for dim in kind.dims if isinstance(dim, int))
                    if len(fixed) == len(kind.dims):
                        self._shapes[value.name] = fixed


def carried(node: NodeProto, position: int) -> Iterator[str]:
    """Return the names under which a Loop or Scan passes its input to its body."""
    for body in bodies(node):
        if node.op_type in ("Loop", "Scan") and position < len(body.input):
            yield body.input[position].name


def integer(node: NodeProto, name: str, default: int) -> int:
    """Return an integer attribute."""
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), default)


def _permutation(node: NodeProto) -> tuple[int, ...] | None:
    order = tuple(axis for attribute in node.attribute if attribute.name == "perm" for axis in attribute.ints)
    return order if order and sorted(order) == list(range(len(order))) else None
