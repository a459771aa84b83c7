"""What serving costs: latency and throughput of the bare session and through HTTP."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING

from workbench.core.text import bytes_text, counted, in_digits
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, one_value, series_look, time_value

if TYPE_CHECKING:
    from workbench.features.deploy.record import DeploymentCheck, DeploymentRecord

_LOOK = series_look(0, "")
_LARGEST_FILES = 8


def deployment_chart(record: DeploymentRecord) -> Chart:
    """Return a row for each way to call it; where nothing was timed, its largest files."""
    if record.check is None or not record.check.rounds:
        return _files(record)
    axes = (Axis("median latency (ms)"), Axis("throughput (requests/s)"))
    rows = [ChartRow("bare session", ((time_value(record.check.bare_s, _LOOK),), ()))]
    rows += [_row(record.check, callers) for callers in record.check.callers]
    return Chart(tuple(str(record).split("\n")[1].split("; ")), axes, tuple(rows), columns=2)


def _row(check: DeploymentCheck, callers: int) -> ChartRow:
    latencies = check.latencies_s(callers)
    rate = check.throughput(callers)
    value = (
        Value(None, "not measured", _LOOK)
        if rate is None
        else Value(rate.value, in_digits(rate.value), _LOOK, rate.low, rate.high)
    )
    latency = time_value(median(latencies) if latencies else None, _LOOK)
    return one_value(f"HTTP, {counted(callers, 'caller')}", latency, value)


def _files(record: DeploymentRecord) -> Chart:
    largest = sorted(record.files, key=lambda file: -file.size_bytes)[:_LARGEST_FILES]
    rows = tuple(
        one_value(file.path, Value(file.size_bytes / 2**20, bytes_text(file.size_bytes), _LOOK))
        for file in largest
    )
    lines = str(record).split("\n")[: 1 if record.check is None else 2]
    title = tuple(part for line in lines for part in line.split("; "))
    return Chart(title, (Axis("size (MiB)"),), rows)
