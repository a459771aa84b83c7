"""The kind of each event of a trace, by its category and name."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from workbench.analysis.profile.trace import Codes, Trace

FENCES = ("_fence_before", "_fence_after")


class Kind(IntEnum):
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
    kind = np.full(len(trace), Kind.OTHER, np.int32)
    categories = np.array(
        [{"Session": 1, "Node": 2, "Kernel": 3}.get(category, 0) for category in trace.categories]
    )
    category = categories[trace.category]
    kind[category == 1] = Kind.SESSION
    special = {
        code: name
        for code, name in enumerate(trace.names)
        if name == "model_run" or name.endswith("Executor::Execute")
    }
    for code, name in special.items():
        kind[(category == 1) & (trace.name == code)] = Kind.RUN if name == "model_run" else Kind.EXECUTOR
    kernel_time = np.array([name.endswith("_kernel_time") for name in trace.names], bool)
    kind[(category == 2) & kernel_time[trace.name]] = Kind.NODE
    fence = np.array([name.endswith(FENCES) for name in trace.names], bool)
    kind[(category == 2) & fence[trace.name]] = Kind.FENCE
    kind[category == 3] = Kind.KERNEL
    return kind


def node_name(event_name: str) -> str:
    """Return the name of the node that an event is about."""
    return event_name.removesuffix("_kernel_time")
