"""Latency and processor time of each thread count, with and without spinning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.text import counted, in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, milliseconds, series_look, time_value

if TYPE_CHECKING:
    from workbench.features.variants.thread_scaling import ThreadPoint, ThreadScalingRecord

_LOOKS = {True: series_look(0, "spinning"), False: series_look(1, "not spinning")}


def threads_chart(scaling: ThreadScalingRecord) -> Chart:
    """Return a row for each thread count: latency at the left, processor time at the right."""
    knees = [scaling.knee(spinning=spinning) for spinning in _LOOKS]
    rows = []
    for count in sorted({point.threads for point in scaling.points}):
        points = sorted(
            (point for point in scaling.points if point.threads == count), key=lambda p: not p.spinning
        )
        latency = (_latency(point, is_enough=point in knees) for point in points)
        busy = (time_value(point.cpu_s, _LOOKS[point.spinning]) for point in points)
        rows.append(ChartRow(counted(count, "thread"), (tuple(latency), tuple(busy))))
    axes = (Axis("latency (ms)"), Axis("processor time a run (ms)"))
    note = "enough: the fewest threads within 5 % of the best latency"
    sentences = tuple(f"{part[:1].upper()}{part[1:]}" for part in str(scaling).split("; "))
    return Chart(sentences, axes, tuple(rows), note, columns=2)


def _latency(point: ThreadPoint, *, is_enough: bool) -> Value:
    text = in_ms(point.latency_s) or point.failure or "not measured"
    return Value(
        milliseconds(point.latency_s), f"{text}, enough" if is_enough else text, _LOOKS[point.spinning]
    )
