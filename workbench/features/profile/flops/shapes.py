"""The shape of every tensor of a graph that ran, read from its profile."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from workbench.core.models.element_type import ElementType, size_bytes
from workbench.core.rewrites.graphs import with_bodies
from workbench.features.profile.tables import CountedEvents
from workbench.features.profile.trace import EventKind, node_name

_NAMES = {int(element): element.name.lower() for element in ElementType}  # in ORT's words
_NUMBERS = {name: number for number, name in _NAMES.items()}


@dataclass(frozen=True, slots=True)
class Operand:
    """An element type in ORT's words and dims. None: not known."""

    element: str | None
    dims: tuple[int, ...] | None

    @property
    def count(self) -> int | None:
        return None if self.dims is None else prod(self.dims)

    @property
    def size_bytes(self) -> int | None:
        number = _NUMBERS.get(self.element or "")
        return None if number is None or self.dims is None else size_bytes(number, self.dims)


@dataclass(frozen=True, slots=True)
class Work:
    """One node as the formulas read it. An input or output that is left out is None in its place."""

    op_type: str
    domain: str
    attributes: Mapping[str, Any]
    inputs: tuple[Operand | None, ...]
    outputs: tuple[Operand | None, ...]

    def given(self, position: int) -> tuple[int, ...]:
        """Return the dims of an input; raise Unknown when they are not known."""
        return _dims(self.inputs, position)

    def made(self, position: int = 0) -> tuple[int, ...]:
        """Return the dims of an output; raise Unknown when they are not known."""
        return _dims(self.outputs, position)


@dataclass(frozen=True, slots=True)
class Cost:
    """Multiply-adds of products, operations in all (two a multiply-add), bytes read and written once each."""

    macs: int | None
    flops: int | None
    bytes_moved: int | None


class Unknown(Exception):
    """A shape that a formula needs is not known."""


def _dims(tensors: tuple[Operand | None, ...], position: int) -> tuple[int, ...]:
    tensor = tensors[position] if position < len(tensors) else None
    if tensor is None or tensor.dims is None:
        raise Unknown
    return tensor.dims


def profiled_shapes(model: Any, measured: CountedEvents) -> dict[str, Operand]:
    """Return the shapes of each node's last call, by the tensor names of the optimized model."""
    weights = stored_shapes(model)
    nodes = {
        node.name: (node.input, node.output) for graph in with_bodies(model.graph) for node in graph.node
    }
    return weights | dict(declared_shapes(model.graph)) | traced_shapes(measured, nodes, weights)


def traced_shapes(
    measured: CountedEvents, nodes: Mapping[str, tuple[Iterable[str], Iterable[str]]], weights: Container[str]
) -> dict[str, Operand]:
    """Return the shapes of each node's last call. `nodes`: the inputs and outputs of each, by its name."""
    shapes: dict[str, Operand] = {}
    trace = measured.trace
    for event in measured.events:
        call = trace.call_of(int(event))
        name = node_name(trace.name_of(int(event)))
        if measured.tree.kind[event] != EventKind.NODE or call is None or name not in nodes:
            continue
        taken, made = ([tensor for tensor in tensors if tensor] for tensors in nodes[name])
        if call.inputs is not None and len(call.inputs) < len(taken):
            taken = [tensor for tensor in taken if tensor not in weights]  # the trace omits prepacked weights
        for tensors, traced in ((made, call.outputs), (taken, call.inputs)):
            if traced is not None and len(tensors) == len(traced):
                shapes |= {tensor: Operand(*shape) for tensor, shape in zip(tensors, traced, strict=True)}
    return shapes


def stored_shapes(model: Any) -> dict[str, Operand]:
    """Return the shapes of the weights."""
    return dict(shape for graph in with_bodies(model.graph) for shape in _stored(graph))


def declared_shapes(graph: Any) -> Iterator[tuple[str, Operand]]:
    """Yield the tensors whose shapes the graph declares in full."""
    for inner in with_bodies(graph):
        yield from _declared(inner)


def own_shapes(graph: Any) -> dict[str, Operand]:
    """Return the shapes of its own weights and of the tensors that it declares in full, without bodies."""
    return {**dict(_stored(graph)), **dict(_declared(graph))}


def _stored(graph: Any) -> Iterator[tuple[str, Operand]]:
    for tensor in graph.initializer:
        yield tensor.name, Operand(_NAMES.get(tensor.data_type), tuple(tensor.dims))


def _declared(graph: Any) -> Iterator[tuple[str, Operand]]:
    for value in (*graph.input, *graph.output, *graph.value_info):
        tensor = value.type.tensor_type
        if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
            continue
        dims = tensor.shape.dim
        if all(dim.HasField("dim_value") for dim in dims):
            yield value.name, Operand(_NAMES.get(tensor.elem_type), tuple(dim.dim_value for dim in dims))
