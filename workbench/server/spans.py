"""A profile in the file format of speedscope: one timeline a thread, every event as it was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from workbench.analysis.profile.profile import Profile
    from workbench.analysis.profile.trace import Trace

SCHEMA = "https://www.speedscope.app/file-format-schema.json"  # a name, fetched by nobody


def speedscope_file(profile: Profile, title: str) -> dict[str, Any]:
    """What speedscope reads; frames are a node's name with its operator and provider."""
    trace = profile.trace
    labels = [_label(trace, event) for event in range(len(trace))]
    frames = {label: code for code, label in enumerate(dict.fromkeys(labels))}
    codes = np.array([frames[label] for label in labels], np.int64)
    timed = np.flatnonzero(~np.isnan(trace.duration_us))
    threads = [timed[trace.tid[timed] == thread] for thread in np.unique(trace.tid[timed])]
    return {
        "$schema": SCHEMA,
        "exporter": "ONNX Runtime Tuning Workbench",
        "name": title,
        "activeProfileIndex": max(range(len(threads)), key=lambda each: len(threads[each]), default=0),
        "shared": {"frames": [{"name": label} for label in frames]},
        "profiles": [_timeline(trace, events, codes) for events in threads],
    }


def _timeline(trace: Trace, events: np.ndarray[Any, Any], codes: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Openings and closings of one thread, properly nested: a child is cut at the end of its parent."""
    starts, ends = trace.start_us[events], trace.start_us[events] + trace.duration_us[events]
    order = np.lexsort((-events, -ends, starts))  # ORT writes children first, so a later event is the parent
    told: list[dict[str, Any]] = []
    stack: list[tuple[float, int]] = []
    for position in order:
        start, end, frame = float(starts[position]), float(ends[position]), int(codes[events[position]])
        while stack and stack[-1][0] <= start:
            told.append({"type": "C", "at": stack[-1][0], "frame": stack.pop()[1]})
        end = min(end, stack[-1][0]) if stack else end
        told.append({"type": "O", "at": start, "frame": frame})
        stack.append((end, frame))
    while stack:
        told.append({"type": "C", "at": stack[-1][0], "frame": stack.pop()[1]})
    return {
        "type": "evented",
        "name": f"thread {int(trace.tid[events[0]])}",
        "unit": "microseconds",
        "startValue": float(starts.min()),
        "endValue": float(ends.max()),
        "events": told,
    }


def _label(trace: Trace, event: int) -> str:
    name, call = trace.name_of(event), trace.call_of(event)
    if call is None or call.op_type is None:
        return name
    return f"{name.removesuffix('_kernel_time')} ({call.op_type}, {call.provider or 'provider not told'})"
