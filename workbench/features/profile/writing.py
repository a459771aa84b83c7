"""A trace as a file again, in ORT's own form, which speedscope and Perfetto read."""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from workbench.core.bundle.atomic import write_atomically
from workbench.features.profile.trace import NO_CODE, SCALARS, SHAPES, NodeCall, Trace
from workbench.features.profile.tree import NO_PARENT, EventTree

MOST_EVENTS = 200_000  # about 80 MB; what viewers in a browser still open


def save_trace(
    trace: Trace, tree: EventTree, path: str | os.PathLike[str], most_events: int = MOST_EVENTS
) -> Path:
    """Write the first runs that fit, each whole; what lies outside of runs comes along."""
    kept = _kept(tree, most_events)
    calls = [_node_args(call) for call in trace.calls]
    lines = [orjson.dumps(_event(trace, calls, event)) for event in kept.tolist()]
    return write_atomically(path, b"[\n" + b",\n".join(lines) + b"\n]\n")


def _kept(tree: EventTree, most: int) -> Any:
    """Return events of whole runs, in file order."""
    run = tree.run
    if len(run) <= most:
        return np.arange(len(run))
    outside = np.flatnonzero(run == NO_PARENT)[: most // 2]
    sizes = np.bincount(run[run != NO_PARENT], minlength=len(tree.runs))
    runs = max(1, int(np.searchsorted(sizes.cumsum(), most - len(outside), side="right")))
    inside = np.flatnonzero((run != NO_PARENT) & (run < runs))
    return np.sort(np.concatenate([outside, inside]))


def _event(trace: Trace, calls: list[dict[str, Any]], event: int) -> dict[str, Any]:
    duration = float(trace.duration_us[event])
    entry: dict[str, Any] = {
        "cat": trace.category_of(event),
        "pid": int(trace.pid[event]),
        "tid": int(trace.tid[event]),
        "ts": float(trace.start_us[event]),
        "ph": "X" if duration == duration else "i",
        "name": trace.name_of(event),
        "args": {},
    }
    if duration == duration:
        entry["dur"] = duration
    if trace.call[event] != NO_CODE:
        entry["args"] = calls[int(trace.call[event])]
    elif trace.args[event] != NO_CODE:
        entry["args"] = orjson.loads(trace.other_args[int(trace.args[event])])
    return entry


def _node_args(call: NodeCall) -> dict[str, Any]:
    """Return the arguments of a node as ORT writes them: numbers as texts, unknown values left out."""
    values = (getattr(call, field.name) for field in fields(call))
    given = {name: value for name, value in zip(SCALARS + SHAPES, values, strict=True) if value is not None}
    scalars = {name: str(given[name]) for name in SCALARS if name in given}
    shapes = {name: [{kind: dims} for kind, dims in given[name]] for name in SHAPES if name in given}
    return scalars | shapes
