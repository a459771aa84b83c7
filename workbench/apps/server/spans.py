"""A profile in the file format of speedscope: a timeline for each thread, every event as measured."""

from __future__ import annotations

from typing import Any

import numpy as np

import workbench as wb

SCHEMA = "https://www.speedscope.app/file-format-schema.json"  # only a name, never fetched


def speedscope_file(profile: wb.Profile, title: str) -> dict[str, Any]:
    """Return the content of the file, with the node's name, operator and provider as the frame."""
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
        "activeProfileIndex": max(range(len(threads)), key=lambda index: len(threads[index]), default=0),
        "shared": {"frames": [{"name": label} for label in frames]},
        "profiles": [_timeline(trace, events, codes) for events in threads],
    }


def _timeline(trace: Any, events: np.ndarray[Any, Any], codes: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return the nested open and close events of one thread; a child is cut at its parent's end."""
    starts, ends = trace.start_us[events], trace.start_us[events] + trace.duration_us[events]
    order = np.lexsort((-events, -ends, starts))  # ORT writes children first, so a later event is the parent
    spans: list[dict[str, Any]] = []
    stack: list[tuple[float, int]] = []
    for position in order:
        start, end, frame = float(starts[position]), float(ends[position]), int(codes[events[position]])
        while stack and stack[-1][0] <= start:
            spans.append({"type": "C", "at": stack[-1][0], "frame": stack.pop()[1]})
        end = min(end, stack[-1][0]) if stack else end
        spans.append({"type": "O", "at": start, "frame": frame})
        stack.append((end, frame))
    while stack:
        spans.append({"type": "C", "at": stack[-1][0], "frame": stack.pop()[1]})
    return {
        "type": "evented",
        "name": f"thread {int(trace.tid[events[0]])}",
        "unit": "microseconds",
        "startValue": float(starts.min()),
        "endValue": float(ends.max()),
        "events": spans,
    }


def _label(trace: Any, event: int) -> str:
    name, call = str(trace.name_of(event)), trace.call_of(event)
    if call is None or call.op_type is None:
        return name
    return f"{name.removesuffix('_kernel_time')} ({call.op_type}, {call.provider or 'provider not known'})"
