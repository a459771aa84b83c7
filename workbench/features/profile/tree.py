"""The tree of events: session → run → executor → node → executor of a subgraph → …, and kernels.

ORT writes an event when it ends, so on one thread an event adopts the events that ended just before it and
began no earlier than it. That settles what times in whole microseconds leave open. Nodes that a parallel
executor ran on other threads are adopted by the outermost executor that contains them in time.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise
from math import nan

import numpy as np

from workbench.features.profile.trace import (
    FENCE_ENDINGS,
    NO_CODE,
    Codes,
    EventKind,
    Reals,
    Trace,
    kinds,
    node_name,
)


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


NO_PARENT = -1  # of what lies directly in the session
MOST_AT_ONCE = 256  # runs that overlap in time: how far back the run of a lone node is looked for
_SLACK_US = 1.5  # start and duration are cut to whole microseconds, each by itself


_OF_AN_EXECUTOR = frozenset({EventKind.NODE, EventKind.FENCE, EventKind.OTHER})
_ADOPTS = {  # the others adopt nothing
    EventKind.SESSION: _OF_AN_EXECUTOR | {EventKind.SESSION, EventKind.EXECUTOR},
    EventKind.RUN: _OF_AN_EXECUTOR | {EventKind.EXECUTOR},
    EventKind.EXECUTOR: _OF_AN_EXECUTOR,
    EventKind.NODE: frozenset({EventKind.EXECUTOR, EventKind.OTHER}),
    EventKind.OTHER: _OF_AN_EXECUTOR | {EventKind.EXECUTOR},
}


@dataclass(frozen=True, slots=True, eq=False)
class EventTree:
    """Columns beside a trace's: one row an event."""

    kind: Codes
    parent: Codes  # an event, or NO_PARENT
    runs: tuple[int, ...]  # the events that are runs, in order of their start
    run: Codes  # position in `runs` of the run an event is part of; NO_PARENT: of none
    share_us: Reals  # of the wall clock: an event's duration, less where others ran at the same time
    self_us: Reals  # share_us without that of its children: for all but nodes that call nothing, a gap

    def children(self, event: int) -> tuple[int, ...]:
        return tuple(int(child) for child in np.flatnonzero(self.parent == event))


def build_tree(trace: Trace) -> EventTree:
    """Nest the events; those without a duration take no part."""
    kind = kinds(trace)
    parent = _nested(trace, kind)
    _adopt_from_other_threads(trace, kind, parent)
    adopt_kernels(trace, kind, parent)
    order = _parents_first(trace, parent)
    is_run, parents = (kind == EventKind.RUN).tolist(), parent.tolist()
    runs = tuple(event for event in order if is_run[event])
    run = [NO_PARENT] * len(trace)
    for position, event in enumerate(runs):
        run[event] = position
    for event in order:
        if run[event] == NO_PARENT and parents[event] != NO_PARENT:
            run[event] = run[parents[event]]
    share, own = _shares(trace, kind, parent, order)
    return EventTree(kind, parent, runs, np.array(run, np.int32), share, own)


def _nested(trace: Trace, kind: Codes) -> Codes:
    parent = np.full(len(trace), NO_PARENT, np.int32)
    starts, durations = trace.start_us.tolist(), trace.duration_us.tolist()
    kinds_, pids, tids = kind.tolist(), trace.pid.tolist(), trace.tid.tolist()
    waiting: dict[tuple[int, int], list[int]] = {}
    for event, (start, duration, pid, tid) in enumerate(zip(starts, durations, pids, tids, strict=True)):
        if not duration >= 0 or start != start or kinds_[event] == EventKind.KERNEL:
            continue
        stack = waiting.setdefault((pid, tid), [])
        adopts = _ADOPTS.get(kinds_[event], ())
        while stack and starts[stack[-1]] >= start and kinds_[stack[-1]] in adopts:
            child = stack.pop()
            if starts[child] + durations[child] > start + duration + _SLACK_US:
                stack.append(child)  # a trace that is not in order of completion
                break
            parent[child] = event
        stack.append(event)
    return parent


def _adopt_from_other_threads(trace: Trace, kind: Codes, parent: Codes) -> None:
    """Adopt nodes without a parent: parallel executors run them on threads of their own."""
    outer = [
        int(event)
        for event in np.flatnonzero(kind == EventKind.EXECUTOR)
        if parent[event] == NO_PARENT or kind[parent[event]] in (EventKind.RUN, EventKind.SESSION)
    ]
    outer.sort(key=lambda event: trace.start_us[event])
    begins = [float(trace.start_us[event]) for event in outer]
    longest = max((float(trace.duration_us[event]) for event in outer), default=0.0)
    for event in np.flatnonzero(
        (parent == NO_PARENT) & (kind == EventKind.NODE) & ~np.isnan(trace.duration_us)
    ):
        start, end = trace.start_us[event], trace.start_us[event] + trace.duration_us[event]
        latest = bisect_right(begins, start)
        for position in range(latest - 1, max(-1, latest - 1 - MOST_AT_ONCE), -1):
            if begins[position] < start - longest:
                break
            candidate = outer[position]
            same = trace.pid[candidate] == trace.pid[event] and trace.tid[candidate] != trace.tid[event]
            if same and end <= begins[position] + trace.duration_us[candidate] + _SLACK_US:
                parent[event] = candidate
                break


def _parents_first(trace: Trace, parent: Codes) -> list[int]:
    """Return every event of the tree, each after its parent, siblings by start."""
    takes_part = (trace.duration_us >= 0) & ~np.isnan(trace.start_us)
    by_start = np.argsort(trace.start_us, kind="stable")
    parents = parent.tolist()
    children: dict[int, list[int]] = {}
    for event in by_start[takes_part[by_start]].tolist():
        children.setdefault(parents[event], []).append(event)
    order = children.get(NO_PARENT, [])
    for event in order:  # grows while it is walked
        order.extend(children.get(event, ()))
    return order


def _shares(trace: Trace, kind: Codes, parent: Codes, order: list[int]) -> tuple[Reals, Reals]:
    """Share each moment of a parent among the children that run in it; the rest is its own."""
    parents, kernels = parent.tolist(), (kind == EventKind.KERNEL).tolist()
    starts, durations = trace.start_us.tolist(), trace.duration_us.tolist()
    share: list[float] = [nan] * len(trace)
    own: list[float] = [nan] * len(trace)
    children: dict[int, list[int]] = {}
    for event in order:
        if parents[event] == NO_PARENT or kernels[event]:  # a kernel runs beside everything
            share[event] = durations[event]
        else:
            children.setdefault(parents[event], []).append(event)
    for event in order:
        inside = children.get(event)
        if not inside:
            own[event] = share[event]
            continue
        start, end = starts[event], starts[event] + durations[event]
        parts = _divided([(max(start, starts[c]), min(end, starts[c] + durations[c])) for c in inside])
        scale = share[event] / durations[event] if durations[event] else 0.0
        for child, part in zip(inside, parts, strict=True):
            share[child] = part * scale
        own[event] = share[event] - sum(parts) * scale
    return np.array(share), np.array(own)


def _divided(spans: list[tuple[float, float]]) -> list[float]:
    """Return the part of the wall clock that each span takes; they come in order of start."""
    if all(before[1] <= after[0] for before, after in pairwise(spans)):
        return [max(0.0, end - start) for start, end in spans]
    parts = [0.0] * len(spans)
    edges = sorted({edge for span in spans for edge in span})
    running: set[int] = set()
    upcoming = 0
    for left, right in pairwise(edges):
        while upcoming < len(spans) and spans[upcoming][0] <= left:
            running.add(upcoming)
            upcoming += 1
        running = {index for index in running if spans[index][1] > left}
        for index in running:
            parts[index] += (right - left) / len(running)
    return parts
