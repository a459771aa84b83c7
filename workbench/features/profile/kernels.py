"""Kernels of a device: the call of the node that launched each, and the queue it ran in.

The profilers of CUDA and ROCm give a kernel no thread. They write it right after the event that launched it,
and call that event `parent_name` and its operator `op_name`, where one began in the same microsecond.
"""

from __future__ import annotations

import json
from bisect import bisect_right

import numpy as np

from workbench.features.profile.trace import FENCE_ENDINGS, NO_CODE, Codes, EventKind, Trace, node_name


def adopt_kernels(trace: Trace, kind: Codes, parent: Codes) -> None:
    """Give each kernel its node's call; where nothing tells the node, the run that began last before it."""
    kernels = np.flatnonzero(kind == EventKind.KERNEL)
    if not len(kernels):
        return
    calls: dict[str, list[int]] = {}  # the events of each node, by their start
    runs: list[int] = []
    begun = np.flatnonzero(np.isin(kind, (EventKind.NODE, EventKind.RUN)) & ~np.isnan(trace.duration_us))
    for event in begun[np.argsort(trace.start_us[begun], kind="stable")].tolist():
        is_run = kind[event] == EventKind.RUN
        (runs if is_run else calls.setdefault(node_name(trace.name_of(event)), [])).append(event)
    nodes = np.flatnonzero(kind == EventKind.NODE)
    before = np.searchsorted(nodes, kernels) - 1  # the node written last before each kernel
    launchers, operators = _told(trace, "parent_name"), _told(trace, "op_name")
    for kernel, position in zip(kernels.tolist(), before.tolist(), strict=True):
        code = int(trace.args[kernel])
        launcher, operator = (None, None) if code == NO_CODE else (launchers[code], operators[code])
        last = None if position < 0 else int(nodes[position])
        adopter: int | None = None
        if last is not None and _launched(trace, last, launcher, operator):
            adopter = last
        for name in (launcher, operator):  # other writers name the node where ORT names the operator
            if adopter is None and name is not None and (named := calls.get(_without_fence(name))):
                adopter = _last_begun(trace, named, kernel)
                adopter = named[0] if adopter is None else adopter  # clocks of devices differ a little
        if adopter is None:
            adopter = _last_begun(trace, runs, kernel)
        if adopter is not None:
            parent[kernel] = adopter


def queues(trace: Trace) -> tuple[str | None, ...]:
    """Return the queue, which CUDA calls stream, of each row of `other_args`."""
    return _told(trace, "stream")


def _last_begun(trace: Trace, events: list[int], kernel: int) -> int | None:
    """Return the last of the events, which stand in order of start, that began no later than a kernel."""
    position = bisect_right(events, trace.start_us[kernel], key=trace.start_us.__getitem__)
    return events[position - 1] if position else None


def _launched(trace: Trace, node: int, launcher: str | None, operator: str | None) -> bool:
    """Return whether a kernel names this node as the event before it."""
    name = node_name(trace.name_of(node))
    if launcher is not None:
        return _without_fence(launcher) == name
    call = trace.call_of(node)
    return operator is not None and call is not None and operator == call.op_type


def _without_fence(event_name: str) -> str:
    name = node_name(event_name)
    for fence in FENCE_ENDINGS:
        name = name.removesuffix(fence)
    return name


def _told(trace: Trace, key: str) -> tuple[str | None, ...]:
    """Return the value of that key in each row of arguments, as text."""
    rows = (json.loads(text) for text in trace.other_args)
    values = (row.get(key) if isinstance(row, dict) else None for row in rows)
    return tuple(str(value) if isinstance(value, (str, int)) and value != "" else None for value in values)
