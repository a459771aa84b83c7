"""The sizes of a stream: first and steady latency, memory after each."""

from __future__ import annotations

from workbench.drawing.chart import Axis, Chart, ChartRow, rows_left_out, series_look, size_value, time_value
from workbench.features.replay.record import ReplayRecord

_FIRST, _STEADY, _MEMORY = (
    series_look(index, name) for index, name in enumerate(("first run", "steady run", "memory"))
)
_MOST_ROWS = 40


def replay_chart(record: ReplayRecord) -> Chart:
    """Return a row for each size as they come, in the order of their first requests."""
    sizes = record.runs[0].sizes
    rows = tuple(
        ChartRow(
            f"{size.shape} ({size.requests}×)",
            (
                (time_value(size.first_s, _FIRST), time_value(size.steady_s, _STEADY)),
                (size_value(size.rss_bytes, _MEMORY),),
            ),
        )
        for size in sizes[:_MOST_ROWS]
    )
    axes = (Axis("latency (ms)"), Axis("resident memory after it first ran (MiB)"))
    note = rows_left_out(len(sizes), len(rows), "sizes")
    requests, as_they_come, *others = str(record).splitlines()
    return Chart((f"{requests}; {as_they_come}", *others), axes, rows, note, columns=2)
