"""Mean and percentiles of one config with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, estimate_value, one_value, run_look
from workbench.figures.scale import scale_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.judge.measurement import MeasurementRecord

MOST_NOTE = 60


def measurement_chart(record: MeasurementRecord) -> Chart:
    """Return a row for the mean and for each percentile."""
    latencies = record.estimates()[: 1 + len(record.percentiles)]
    scale = scale_of([estimate.value for estimate in latencies])
    rows = (
        one_value(row.name, estimate_value(row, scale, run_look(0), one_line(row.note, MOST_NOTE)))
        for row in latencies
    )
    axis = Axis(f"latency of one run, 95 % interval ({scale.unit})")
    return Chart((record.headline,), (axis,), tuple(rows), record.measured.model.name)
