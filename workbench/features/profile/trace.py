"""A trace as columns: one array an attribute, one row an event of a kind, texts as numbers into tables."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson

from workbench.core.bundle.codec import TABLE

Codes: TypeAlias = npt.NDArray[np.int32]
Numbers: TypeAlias = npt.NDArray[np.int64]
Reals: TypeAlias = npt.NDArray[np.float64]

Shape: TypeAlias = tuple[str, tuple[int, ...]]  # ORT's element type and the dims of one tensor
SIGNED = {"signed": True}  # a stranger's trace may say anything
FENCE_ENDINGS = ("_fence_before", "_fence_after")
NO_CODE = -1  # in a column of codes; tables hold None instead

# The fields of a call as ORT names them, in their order.
SCALARS = ("op_name", "provider", "node_index", "activation_size", "output_size", "parameter_size")
SHAPES = ("input_type_shape", "output_type_shape")


@dataclass(frozen=True, slots=True)
class NodeCall:
    """What a node's event says that is mostly the same at each of its calls. None: not told."""

    op_type: str | None
    provider: str | None
    node_index: int | None
    activation_bytes: int | None = field(metadata=SIGNED)
    output_bytes: int | None = field(metadata=SIGNED)
    parameter_bytes: int | None = field(metadata=SIGNED)
    inputs: tuple[Shape, ...] | None
    outputs: tuple[Shape, ...] | None


@dataclass(frozen=True, slots=True)
class ArenaState:
    """The CPU arena after a node ran. None: not told."""

    in_use_bytes: int | None = field(metadata=SIGNED)
    in_use_delta_bytes: int | None = field(metadata=SIGNED)
    peak_bytes: int | None = field(metadata=SIGNED)
    held_bytes: int | None = field(metadata=SIGNED)
    held_delta_bytes: int | None = field(metadata=SIGNED)


@dataclass(frozen=True, slots=True)
class Scheduling:
    """How the pool shared one call of a node: the calling thread's time, the work items of the others."""

    event: int
    distribute_us: int
    run_us: int
    wait_us: int
    others_ran: tuple[int, ...]  # work items, one number an other thread


class EventKind(IntEnum):
    """The kind of an event. A device's kernel runs beside its node and takes no part of its time."""

    SESSION = 0  # loading, initialization
    RUN = 1
    EXECUTOR = 2  # of the graph in a run; of a subgraph, once an iteration, in a node
    NODE = 3
    KERNEL = 4  # of a device
    OTHER = 5
    FENCE = 6  # a node of older ORT waiting for its tensors


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """Every event of one file, in file order: ORT writes an event when it ends, so children come first."""

    categories: tuple[str, ...]
    names: tuple[str, ...] = field(metadata=TABLE)
    calls: tuple[NodeCall, ...] = field(metadata=TABLE)
    arenas: tuple[ArenaState, ...] = field(metadata=TABLE)
    other_args: tuple[str, ...] = field(metadata=TABLE)  # JSON
    scheduling: tuple[Scheduling, ...] = field(metadata=TABLE)
    category: Codes
    name: Codes
    call: Codes  # NO_CODE: no node
    arena: Codes
    args: Codes  # of events that are no nodes; NO_CODE: none
    pid: Numbers
    tid: Numbers
    start_us: Reals  # since profiling began
    duration_us: Reals  # NaN: the event has none
    complete: bool  # read to its closing bracket, nothing dropped or damaged
    notes: tuple[str, ...]  # what is missing, in words

    def __len__(self) -> int:
        return len(self.name)

    def name_of(self, event: int) -> str:
        return self.names[int(self.name[event])]

    def category_of(self, event: int) -> str:
        return self.categories[int(self.category[event])]

    def call_of(self, event: int) -> NodeCall | None:
        code = self.call[event]
        return None if code == NO_CODE else self.calls[code]

    def arena_of(self, event: int) -> ArenaState | None:
        code = self.arena[event]
        state = None if code == NO_CODE else self.arenas[code]
        return None if state is None or state.in_use_bytes is None else state


def kinds(trace: Trace) -> Codes:
    """Return the kind of each event."""
    kind = np.full(len(trace), EventKind.OTHER, np.int32)
    for code, category in enumerate(trace.categories):
        if category in ("Session", "Node", "Kernel"):
            by_name = np.array([_kind(category, name) for name in trace.names], np.int32)
            events = trace.category == code
            kind[events] = by_name[trace.name[events]]
    return kind


def _kind(category: str, name: str) -> EventKind:
    """Return the kind of an event of ORT's own categories."""
    if category == "Kernel":
        return EventKind.KERNEL
    if category == "Session":
        ending = EventKind.EXECUTOR if name.endswith("Executor::Execute") else EventKind.SESSION
        return EventKind.RUN if name == "model_run" else ending
    if name.endswith(FENCE_ENDINGS):
        return EventKind.FENCE
    return EventKind.NODE if name.endswith("_kernel_time") else EventKind.OTHER


def node_name(event_name: str) -> str:
    """Return the name of the node that an event is about."""
    return event_name.removesuffix("_kernel_time")


_LARGEST = 1 << 63  # what a column can hold


class Interning(dict[Any, int]):
    """Value → number, in order of first sight; looking a new value up adds it."""

    def __missing__(self, value: Hashable) -> int:
        code = self[value] = len(self)
        return code


def packed(values: array[Any]) -> Any:
    """Return a read-only numpy array over the same memory."""
    column = np.frombuffer(values, dtype=np.dtype(values.typecode))
    column.flags.writeable = False
    return column


def call_row(values: tuple[Any, ...]) -> NodeCall:
    """Make a call of op type, provider, four numbers as ORT writes them, and the shapes as JSON."""
    op_type, provider, *numbers, both = values
    index, activations, output, parameters = map(number, numbers)
    inputs, outputs = map(shapes, orjson.loads(both))
    return NodeCall(text(op_type), text(provider), index, activations, output, parameters, inputs, outputs)


def number(value: Any) -> int | None:
    """Read a number that ORT wrote as text; anything else is absent."""
    if isinstance(value, bool):
        return None
    try:
        parsed = int(value) if isinstance(value, (str, int)) and len(str(value)) < 20 else None
    except ValueError:
        return None
    return parsed if parsed is not None and abs(parsed) < _LARGEST else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def shapes(value: Any) -> tuple[Shape, ...] | None:
    """Read `[{"float": [4, 32]}]` as (("float", (4, 32)),); None where it has another form."""
    if not isinstance(value, list):
        return None
    parsed: list[Shape] = []
    for item in value:
        if not isinstance(item, dict) or len(item) != 1:
            return None
        ((kind, dims),) = item.items()
        if not isinstance(dims, list) or not all(type(dim) is int and abs(dim) < _LARGEST for dim in dims):
            return None
        parsed.append((kind, tuple(dims)))
    return tuple(parsed)
