"""The candidates of a study that no other beats in everything, and the knee among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.config import Config
from workbench.records.study import StudyCandidate, StudyRecord

AXES = ("latency", "memory", "load", "file", "error")
TIE = {"latency": 0.0, "memory": 0.02, "load": 0.10, "file": 0.0, "error": 0.0}
"""Shares within which two values count as equal; latencies have their own intervals."""


@dataclass(frozen=True, slots=True)
class Point:
    """One config with all that it costs. None: not known."""

    label: str
    config: Config
    speedup: float
    low: float
    high: float
    memory_bytes: int | None
    load_s: float | None
    file_bytes: int | None
    error: float | None
    accuracy: float | None
    on_front: bool = False
    is_knee: bool = False


def points_of(record: StudyRecord) -> tuple[Point, ...]:
    """Return every candidate that keeps the limits, the default first, with the front marked."""
    points = [
        _point(record, candidate)
        for candidate in record.candidates
        if candidate.state == "measured" and record.run(candidate.label) is not None
    ]
    front = [point for point in points if not any(_beats(other, point) for other in points)]
    knee = knee_of(front)
    return tuple(
        Point(
            **{
                name: getattr(point, name)
                for name in Point.__dataclass_fields__
                if name[:3] not in ("on_", "is_")
            },
            on_front=point in front,
            is_knee=point is knee,
        )
        for point in points
    )


def knee_of(front: Sequence[Point]) -> Point | None:
    """Return the point nearest to the best of every axis; None of fewer than three points."""
    if len(front) < 3:
        return None
    scales = []
    for axis in AXES:
        values = [value for point in front if (value := _cost(point, axis)) is not None]
        scales.append((axis, min(values, default=0.0), max(values, default=0.0)))

    def distance(point: Point) -> float:
        parts = [
            (cost - least) / (most - least)
            for axis, least, most in scales
            if most > least and (cost := _cost(point, axis)) is not None
        ]
        return math.hypot(*parts)

    return min(front, key=distance)


def _point(record: StudyRecord, candidate: StudyCandidate) -> Point:
    run = record.run(candidate.label)
    is_default = candidate is record.candidates[0]
    model = record.selection.model
    return Point(
        label=candidate.label,
        config=candidate.config,
        speedup=candidate.ratio or 1.0,
        low=1.0 if is_default else candidate.low or 0.0,
        high=1.0 if is_default else candidate.high or math.inf,
        memory_bytes=None if run is None else run.peak_rss_bytes,
        load_s=None if run is None else run.load_s,
        file_bytes=candidate.file_bytes or model.graph_bytes + model.external_bytes,
        error=candidate.error if candidate.config.precision is not None else 0.0,
        accuracy=candidate.accuracy,
    )


def _beats(first: Point, second: Point) -> bool:
    """Return whether the first is better in one respect beyond doubt and nowhere worse."""
    if first is second:
        return False
    better = first.low > second.high
    if first.high < second.low or (not better and first.speedup < second.speedup):
        return False
    for axis in AXES[1:]:
        own, other = _cost(first, axis), _cost(second, axis)
        if own is None or other is None:
            continue
        if own > other * (1 + TIE[axis]):
            return False
        better = better or own * (1 + TIE[axis]) < other
    return better


def _cost(point: Point, axis: str) -> float | None:
    values = {
        "latency": 1 / point.speedup,
        "memory": point.memory_bytes,
        "load": point.load_s,
        "file": point.file_bytes,
        "error": point.error,
    }
    return values[axis]
