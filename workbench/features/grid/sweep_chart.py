"""Latency and throughput against size or against a knob, a line for each config."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbench.core.measure.measurement import in_words
from workbench.core.text import one_line, shorten
from workbench.drawing.chart import Look, Value, run_look
from workbench.drawing.lines import LineChart, Panel, line_figure, line_scene
from workbench.drawing.scale import Scale, scale_of

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.drawing.scene import Scene
    from workbench.features.grid.sweep import SweepRecord, SweepRow

MOST_CURVES = 12
MOST_TEXT = 60


def sweep_chart(record: SweepRecord) -> LineChart:
    """Return a panel for latency and one for throughput; the axis with most values lies across."""
    axis = record.longest_axis
    values = ("",) if axis is None else axis.values
    curves = _curves(record)
    drawn = list(curves.items())[:MOST_CURVES]
    scale = scale_of([row.latency().value for _, rows in drawn for row in rows.values()])
    latency, rates = [], []
    for index, (name, rows) in enumerate(drawn):
        look = run_look(index, name)
        points = [rows.get(value) for value in values]
        latency.append(tuple(_value(row, look, scale) for row in points))
        rates.append(tuple(_value(row, look) for row in points))
    panels = (
        Panel(f"median latency of one run ({scale.unit})", tuple(latency)),
        Panel(f"throughput ({record.unit}/s)", tuple(rates)),
    )
    more = len(curves) - len(drawn)
    note = f"bars are 95 % intervals{f'; {more} more lines in the table' if more else ''}"
    title = "the default sizes" if axis is None else shorten(axis.name)
    return LineChart((record.headline,), title, tuple(_positions(values)), panels, note)


def sweep_figure(record: SweepRecord) -> go.Figure:
    """Draw the chart with plotly."""
    return line_figure(sweep_chart(record))


def sweep_scene(record: SweepRecord) -> Scene:
    """Draw the chart as a still picture."""
    return line_scene(sweep_chart(record))


def _curves(record: SweepRecord) -> dict[str, dict[str, SweepRow]]:
    """Return the rows of each curve by their value on the axis that lies across."""
    across = "" if record.longest_axis is None else record.longest_axis.name
    curves: dict[str, dict[str, SweepRow]] = {}
    for row in record.rows():
        others = [f"{shorten(name)} {value}" for name, value in row.places.items() if name != across]
        name = ", ".join([shorten(row.series.config), *others])
        curves.setdefault(name, {})[row.places.get(across, "")] = row
    return curves


def _positions(values: tuple[str, ...]) -> Iterator[tuple[float, str]]:
    """Yield the place of each value: numbers on a scale of doubling, names evenly."""
    is_numeric = all(value.isascii() and value.isdecimal() and int(value[:20]) > 0 for value in values)
    for index, value in enumerate(values):
        yield (math.log2(int(value[:20])) if is_numeric else float(index)), value


def _value(row: SweepRow | None, look: Look, scale: Scale | None = None) -> Value:
    """Return the latency of a row on its scale; without a scale its rate."""
    if row is None:
        return Value(None, "not measured", look)
    estimate = row.rate() if scale is None else row.latency()
    numbers = (estimate.value, estimate.low, estimate.high)
    value, low, high = (n if n is None or scale is None else scale.of(n) for n in numbers)
    text = one_line(row.problem, MOST_TEXT) if row.problem else in_words(estimate)
    return Value(value, text, look, low, high)
