"""Runs in time: nested lanes for each thread with named gaps, the kernels of a device below."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from workbench.features.profile.flame.frames import NO_FRAME, Boxes, FlamePane, FrameKind, Frames
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import BETWEEN_NODES, SCHEDULING
from workbench.features.profile.trace import NO_CODE, node_name
from workbench.features.profile.trace import EventKind as Event
from workbench.features.profile.tree import NO_PARENT, queues

MOST_SPANS = 100_000  # of a picture: what stays fluent without a GPU
SHORTEST_GAP_S = 0.5e-6  # times are whole microseconds
_KINDS = {
    Event.SESSION: FrameKind.OTHER,
    Event.RUN: FrameKind.RUN,
    Event.EXECUTOR: FrameKind.BODY,
    Event.NODE: FrameKind.NODE,
    Event.KERNEL: FrameKind.KERNEL,
    Event.OTHER: FrameKind.OTHER,
    Event.FENCE: FrameKind.GAP,
}
_GAPS = {Event.RUN: SCHEDULING, Event.EXECUTOR: BETWEEN_NODES}


def timeline(
    profile: SessionProfile, label: str, most_spans: int = MOST_SPANS
) -> tuple[list[FlamePane], tuple[float, float]]:
    """Return the panes of all counted runs that fit, and the initial range: the run nearest the median.

    Time counts from that run's begin, so that two profiles can be set one above the other.
    """
    tree, trace = profile.tree, profile.trace
    runs = _runs_that_fit(profile, most_spans)
    if not runs:
        return [], (0.0, 0.0)
    middle = _median_run(profile, runs)
    zero_us = float(trace.start_us[tree.runs[middle]])
    shown_s = float(trace.duration_us[tree.runs[middle]]) / 1e6
    inside = np.isin(tree.run, runs) & ~np.isnan(trace.duration_us)
    lanes: dict[tuple[bool, int, int, str], list[int]] = {}
    streams = queues(trace)
    for event in np.flatnonzero(inside).tolist():
        device = tree.kind[event] == Event.KERNEL
        code = int(trace.args[event])
        queue = (streams[code] or "") if device and code != NO_CODE else ""
        lanes.setdefault((device, int(trace.pid[event]), int(trace.tid[event]), queue), []).append(event)
    leading = {
        lane for lane, events in lanes.items() if any(tree.kind[event] == Event.RUN for event in events)
    }
    panes, threads, devices = [], 0, 0
    for lane in sorted(lanes, key=lambda lane: (lane[0], lane not in leading, lane)):
        device, _, tid, queue = lane
        if device:
            devices += 1
            stream = f"stream {queue}: " if queue else ""
            title = f"{label}, device queue {devices}"
            note = f"{stream}kernels, beside the nodes that launched them"
        else:
            threads += 1
            title, note = f"{label}, thread {threads}", f"thread {tid}"
        panes.append(FlamePane(title, note, _lane(profile, lanes[lane], zero_us, device=device)))
    return panes, (-0.02 * shown_s, 1.02 * shown_s)


def _runs_that_fit(profile: SessionProfile, most_spans: int) -> list[int]:
    """Return the counted runs from the first on, at least one."""
    tree = profile.tree
    sizes = np.bincount(tree.run[tree.run >= 0], minlength=len(tree.runs))
    chosen: list[int] = []
    spans = 0
    for run in range(profile.warmup_runs, len(tree.runs)):
        spans += 2 * int(sizes[run])  # as many gaps as spans, at most
        if chosen and spans > most_spans:
            break
        chosen.append(run)
    return chosen


def _median_run(profile: SessionProfile, runs: list[int]) -> int:
    durations = [float(profile.trace.duration_us[profile.tree.runs[run]]) for run in runs]
    return runs[int(np.argsort(durations, kind="stable")[len(durations) // 2])]


def _lane(profile: SessionProfile, events: list[int], zero_us: float, *, device: bool) -> Frames:
    """Return boxes by start, each below its parent on the same thread, and named boxes for the gaps."""
    trace, tree = profile.trace, profile.tree
    # start, minus the end, what sorts, a gap's name, owner
    spans: list[tuple[float, float, int, str, int]] = []
    for event in events:
        start = float(trace.start_us[event])
        spans.append((start, -(start + float(trace.duration_us[event])), -event, "", event))
    if not device:
        spans += [(start, -end, 1, name, owner) for start, end, name, owner in _gaps(profile, events)]
    boxes, rows, depths = Boxes(), dict[int, int](), dict[int, int]()
    for start, minus_end, _, gap, event in sorted(spans):
        above = event if gap else int(tree.parent[event])
        at_s, width_s = (start - zero_us) / 1e6, (-minus_end - start) / 1e6
        parent, depth = rows.get(above, NO_FRAME), depths.get(above, -1) + 1
        if gap:
            boxes.add(gap, FrameKind.GAP, at_s, width_s, parent=parent, depth=depth, own_s=width_s)
            continue
        kind, launcher = Event(tree.kind[event]), int(tree.parent[event])
        call = trace.call_of(launcher if kind == Event.KERNEL and launcher != NO_PARENT else event)
        depths[event] = depth
        rows[event] = boxes.add(
            _name(profile, event, kind), _KINDS[kind], at_s, width_s, parent=parent, depth=depth,
            op=None if call is None else call.op_type, provider=None if call is None else call.provider,
            own_s=width_s if kind == Event.KERNEL else float(tree.self_us[event]) / 1e6,
        )  # fmt: skip
    return boxes.frames()


def _name(profile: SessionProfile, event: int, kind: Event) -> str:
    if kind == Event.RUN:
        return f"run {int(profile.tree.run[event]) + 1}"
    if kind == Event.EXECUTOR:
        outer = profile.tree.parent[event]
        whole = outer == NO_PARENT or profile.tree.kind[outer] != Event.NODE
        return "graph" if whole else "body"
    return node_name(profile.trace.name_of(event))


def _gaps(profile: SessionProfile, events: list[int]) -> Iterable[tuple[float, float, str, int]]:
    """Return the times of a run or an executor that no child covers, on any thread."""
    trace, tree = profile.trace, profile.tree
    owners = {event: _GAPS[Event(tree.kind[event])] for event in events if Event(tree.kind[event]) in _GAPS}
    children = _children(profile, owners)
    for owner, name in owners.items():
        at = float(trace.start_us[owner])
        end = at + float(trace.duration_us[owner])
        for child in children.get(owner, ()):
            start = float(trace.start_us[child])
            if (start - at) / 1e6 > SHORTEST_GAP_S:
                yield at, min(start, end), name, owner
            at = max(at, start + float(trace.duration_us[child]))
        if (end - at) / 1e6 > SHORTEST_GAP_S:
            yield at, end, name, owner


def _children(profile: SessionProfile, owners: dict[int, str]) -> dict[int, list[int]]:
    trace, tree = profile.trace, profile.tree
    children: dict[int, list[int]] = {}
    inside = np.flatnonzero(np.isin(tree.parent, list(owners)) & (tree.kind != Event.KERNEL))
    for child in inside[np.argsort(trace.start_us[inside], kind="stable")].tolist():
        children.setdefault(int(tree.parent[child]), []).append(child)
    return children
