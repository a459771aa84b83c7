"""Mean and percentiles of one config with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, ChartRow, Value, one_value, run_look
from workbench.figures.scale import Scale, scale_of
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.judge.measurement import MeasurementRecord
    from workbench.judge.percentiles import Estimate

MOST_NOTE = 60


def measurement_chart(record: MeasurementRecord) -> Chart:
    """Return a row for the mean and for each percentile."""
    latencies = record.estimates()[: 1 + len(record.percentiles)]
    scale = scale_of([estimate.value for estimate in latencies])
    rows = tuple(_row(estimate, scale) for estimate in latencies)
    axis = Axis(f"latency of one run, 95 % interval ({scale.unit})")
    return Chart((record.headline,), (axis,), rows, record.measured.model.name)


def _row(estimate: Estimate, scale: Scale) -> ChartRow:
    look = run_look(0)
    if estimate.value is None:
        return one_value(estimate.name, Value(None, one_line(estimate.note, MOST_NOTE), look))
    value = scale.of(estimate.value)
    if estimate.low is None or estimate.high is None:
        return one_value(estimate.name, Value(value, scale.text(estimate.value), look))
    text = f"{scale.text(estimate.value)} ({scale.number(estimate.low)} to {scale.number(estimate.high)})"
    low, high = scale.of(estimate.low), scale.of(estimate.high)
    return one_value(estimate.name, Value(value, text, look, low, high))
