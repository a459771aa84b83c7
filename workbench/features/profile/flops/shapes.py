"""The shape of every tensor of a graph that ran, read from its profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from workbench.core.models.element_type import ElementType, size_bytes
from workbench.core.models.graph import Graph, TensorInfo
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


def profiled_shapes(graph: Graph, measured: CountedEvents) -> dict[str, Operand]:
    """Return the shapes of the graph that ran by the keys of tensors: of the last call, else as declared."""
    return known_shapes({**graph.infos, **graph.constants}) | traced_shapes(graph, measured)


def traced_shapes(graph: Graph, measured: CountedEvents) -> dict[str, Operand]:
    """Return the shapes of each node's last call."""
    shapes: dict[str, Operand] = {}
    trace = measured.trace
    for event in measured.events:
        call = trace.call_of(int(event))
        node = graph.by_name.get(node_name(trace.name_of(int(event))))
        if measured.tree.kind[event] != EventKind.NODE or call is None or node is None:
            continue
        taken, made = ([tensor for tensor in tensors if tensor] for tensors in (node.inputs, node.outputs))
        if call.inputs is not None and len(call.inputs) < len(taken):
            taken = [
                tensor for tensor in taken if tensor not in graph.constants
            ]  # prepacked weights are omitted
        for tensors, traced in ((made, call.outputs), (taken, call.inputs)):
            if traced is not None and len(tensors) == len(traced):
                shapes |= {tensor: Operand(*shape) for tensor, shape in zip(tensors, traced, strict=True)}
    return shapes


def known_shapes(infos: Mapping[str, TensorInfo]) -> dict[str, Operand]:
    """Return the tensors whose dims are all known."""
    return {
        key: Operand(_NAMES.get(info.element or 0), info.shape)
        for key, info in infos.items()
        if info.shape is not None
    }
