"""Lines of values with their intervals over the same positions: drawn by plotly and as a still picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, TypeAlias

from workbench.drawing.chart import DRAWABLE, Value, run_look
from workbench.drawing.chart_scene import (
    MARGIN,
    ROOM,
    SMALL,
    SMALL_LINE,
    captioned,
    captions,
    dot,
    legend,
    ticks,
)
from workbench.drawing.palette import TEXT
from workbench.drawing.scale import tick_text
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Line, Polyline, Shape, TextLine
from workbench.drawing.words import plain

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT, BETWEEN, LEFT = 220.0, 24.0, 52.0  # of a panel of the still picture, between two, for its numbers
_PLOT_PIXELS = 300
NO_POINTS = "nothing was measured"


Curve: TypeAlias = tuple[Value, ...]  # one for each position; the look is the same in every panel


@dataclass(frozen=True, slots=True)
class Panel:
    """Curves on one scale, which begins at zero."""

    title: str  # names the unit
    curves: tuple[Curve, ...]

    @property
    def most(self) -> float:
        """Return the end of the scale."""
        values = [value for curve in self.curves for value in curve]
        numbers = [number for value in values for number in (value.value, value.high) if number is not None]
        return min(max(numbers, default=1.0), DRAWABLE) * 1.05 or 1.0


@dataclass(frozen=True, slots=True)
class LineChart:
    """Panels side by side over the same positions. All texts are untrusted."""

    sentences: tuple[str, ...]
    position_title: str
    positions: tuple[tuple[float, str], ...]  # where, and the text of its tick
    panels: tuple[Panel, ...]
    note: str = ""

    @property
    def span(self) -> tuple[float, float]:
        """Return the first and the last position, with room beside them."""
        places = [place for place, _ in self.positions] or [0.0]
        room = 0.08 * (max(places) - min(places)) or 1.0
        return min(places) - room, max(places) + room


def line_figure(chart: LineChart) -> go.Figure:
    """Draw the chart with plotly; the legend names each curve once."""
    from plotly.subplots import make_subplots

    from workbench.drawing.template import error_bars, new_figure, set_title

    figure = make_subplots(cols=len(chart.panels), horizontal_spacing=0.12, figure=new_figure())
    for column, panel in enumerate(chart.panels, 1):
        for index, curve in enumerate(panel.curves):
            style = run_look(index)
            name = next((value.look.name for value in curve), "")
            points = list(zip(chart.positions, curve, strict=True))
            ends = ((value.low, value.value, value.high) for value in curve)
            figure.add_scatter(
                x=[place for (place, _), _ in points],
                y=[value.value for _, value in points],
                error_y=error_bars(ends, 0, thickness=1),
                mode="lines+markers",
                name=plain(name),
                legendgroup=str(index),
                showlegend=column == 1 and len(panel.curves) > 1,
                line={"color": style.color, "dash": style.dash},
                marker={"symbol": style.symbol, "size": 8},
                hovertext=[plain(f"{name}, {where}: {value.text}") for (_, where), value in points],
                hoverinfo="text",
                row=1,
                col=column,
            )
        figure.update_yaxes(title_text=plain(panel.title), range=[0, panel.most], row=1, col=column)
    figure.update_xaxes(
        title_text=plain(chart.position_title),
        tickvals=[place for place, _ in chart.positions],
        ticktext=[plain(text) for _, text in chart.positions],
        range=list(chart.span),
    )
    return set_title(figure, chart.sentences, chart.note, _PLOT_PIXELS)


def line_scene(chart: LineChart) -> Scene:
    """Draw the chart as a still picture: sentences, legend, panels, note."""
    shapes, y = captions(chart.sentences)
    names, y = legend([value.look for curve in chart.panels[0].curves for value in curve[:1]], y, dots=True)
    shapes += names
    y += 2 * SMALL_LINE
    width = (ROOM - BETWEEN * (len(chart.panels) - 1)) / len(chart.panels)
    for number, panel in enumerate(chart.panels):
        shapes += _panel(chart, panel, MARGIN + number * (width + BETWEEN) + LEFT, y, width - LEFT)
    return captioned(chart.sentences, chart.note, shapes, y + HEIGHT + 2 * SMALL_LINE + 4)


def _panel(chart: LineChart, panel: Panel, left: float, top: float, width: float) -> Iterator[Shape]:
    least, end = chart.span
    bottom = top + HEIGHT

    def x(place: float) -> float:
        return left + (place - least) / (end - least) * width

    def y(value: float) -> float:
        return bottom - value / panel.most * HEIGHT

    yield TextLine(left - LEFT, top - 8, panel.title, SMALL, room=width + LEFT)
    for tick in ticks(0.0, panel.most):
        yield Line(left, y(tick), left + width, y(tick), TEXT, 0.5, opacity=0.4)
        yield TextLine(left - 6, y(tick) + 4, tick_text(tick), 10, anchor="end", room=LEFT - 6)
    room = width / max(1, len(chart.positions))
    for place, text in chart.positions:
        yield TextLine(x(place), bottom + 14, text, 10, anchor="middle", room=room)
    yield TextLine(left + width / 2, bottom + 30, chart.position_title, SMALL, anchor="middle", room=width)
    if all(value.value is None for curve in panel.curves for value in curve):
        yield TextLine(left + 8, top + HEIGHT / 2, NO_POINTS, SMALL, room=width)
    for curve in panel.curves:
        for part in _parts(chart, curve):
            points = tuple((x(place), y(value.value or 0.0)) for place, value in part)
            if len(points) > 1:
                yield Polyline(points, part[0][1].look.color, 1.5)
            for (place, value), (across, down) in zip(part, points, strict=True):
                if value.interval is not None:
                    low, high = (y(number) for number in value.interval)
                    yield Line(x(place), low, x(place), high, value.look.color, 2)
                yield dot(across, down, value.look)


def _parts(chart: LineChart, curve: Curve) -> Iterator[list[tuple[float, Value]]]:
    """Yield the stretches of a curve without an absent value: a gap is left where nothing was measured."""
    points = ((place, value) for (place, _), value in zip(chart.positions, curve, strict=True))
    for measured, part in groupby(points, key=lambda point: point[1].value is not None):
        if measured:
            yield list(part)
