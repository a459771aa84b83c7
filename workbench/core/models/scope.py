"""The producers and consumers of each value of a graph; model functions are unfolded call by call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.models.graph_walk import GraphWalk, WalkedNode

if TYPE_CHECKING:
    from onnx import FunctionProto, GraphProto, ModelProto, NodeProto, TensorProto

_MAX_CALLS = 16  # nested functions; deeper ones are not followed
_MAX_STEPS = 64  # pass-through nodes between a table and its reader
_MAX_CONSTANT = 4096  # elements of a constant that is read
_SAME_SHAPE = frozenset({"Identity", "Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "Dropout"})


class GraphScope:
    """The main graph with its subgraphs, or one call of a function. Values are named by their keys."""

    def __init__(
        self,
        model: ModelProto,
        function: FunctionProto | None = None,
        parent: GraphScope | None = None,
        bound: Mapping[str, str] | None = None,
    ) -> None:
        self.model = model
        self.parent = parent
        self.bound = dict(bound or {})  # a function's input → the caller's value
        self.depth: int = 0 if parent is None else parent.depth + 1
        self._calls: dict[str, GraphScope] = {}
        self._readers: dict[str, list[tuple[WalkedNode, int]]] = defaultdict(list)
        self._makers: dict[str, WalkedNode] = {}
        walk = GraphWalk(model.graph if function is None else _body(function))
        self._infos = walk.infos | walk.constants
        self._stored: dict[str, TensorProto] = walk.stored
        for node in sorted(walk.nodes, key=lambda node: len(node.scope)):  # outer ones first
            for position, name in enumerate(node.inputs):
                if name:
                    self._readers[name].append((node, position))
            for name in node.outputs:
                self._makers.setdefault(name, node)
            if node.op_type == "Constant" and node.outputs:
                values = (attribute.t for attribute in node.proto.attribute if attribute.name == "value")
                self._stored.update((node.outputs[0], value) for value in values)

    def readers(self, name: str) -> list[tuple[WalkedNode, int]]:
        """Return the nodes that read a value, each with the position of the input."""
        return self._readers.get(name, [])

    def call(self, node: WalkedNode) -> GraphScope | None:
        """Return the scope of the function that a node calls, or None for an operator."""
        if self.depth >= _MAX_CALLS:
            return None
        if node.key not in self._calls:
            for function in self.model.functions:
                if (function.domain, function.name) == (node.proto.domain, node.op_type):
                    bound = dict(zip(function.input, node.inputs, strict=False))
                    self._calls[node.key] = GraphScope(self.model, function, self, bound)
                    break
        return self._calls.get(node.key)

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
            maker = scope._makers.get(name)
            if maker is None:
                if name not in scope.bound:
                    return None
                name, scope = scope.bound[name], scope.parent
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
        if name in self._stored:
            return tuple(self._stored[name].dims)
        return self._infos[name].shape if name in self._infos else None

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


def carried(node: WalkedNode, position: int) -> Iterator[str]:
    """Return the values that a Loop or Scan passes its input to, in its body."""
    for inputs in node.given:
        if node.op_type in ("Loop", "Scan") and position < len(inputs):
            yield inputs[position]


def integer(node: NodeProto, name: str, default: int) -> int:
    """Return an integer attribute."""
    return next((int(attribute.i) for attribute in node.attribute if attribute.name == name), default)


def _permutation(node: NodeProto) -> tuple[int, ...] | None:
    order = tuple(axis for attribute in node.attribute if attribute.name == "perm" for axis in attribute.ints)
    return order if order and sorted(order) == list(range(len(order))) else None


def _body(function: FunctionProto) -> GraphProto:
    """Return the nodes of a function as a graph, whose inputs have the type of what it is called with."""
    from onnx import GraphProto, ValueInfoProto

    inputs = [ValueInfoProto(name=name) for name in function.input]
    return GraphProto(node=function.node, input=inputs, value_info=function.value_info)
