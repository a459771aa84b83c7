"""The kind of each event of a trace, by its category and name."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from workbench.analysis.profile.trace import Codes, Trace

FENCES = ("_fence_before", "_fence_after")


class EventKind(IntEnum):
    """The kind of an event. A device's kernel runs beside its node and takes no part of its time."""

    SESSION = 0  # loading, initialization
    RUN = 1
    EXECUTOR = 2  # of the graph in a run; of a subgraph, once an iteration, in a node
    NODE = 3
    KERNEL = 4  # of a device
    OTHER = 5
    FENCE = 6  # a node of older ORT waiting for its tensors


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
    if name.endswith(FENCES):
        return EventKind.FENCE
    return EventKind.NODE if name.endswith("_kernel_time") else EventKind.OTHER


def node_name(event_name: str) -> str:
    """Return the name of the node that an event is about."""
    return event_name.removesuffix("_kernel_time")
