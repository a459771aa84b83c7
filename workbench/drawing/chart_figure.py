"""Draw a chart with plotly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.drawing.chart import Axis, Chart, Value
from workbench.drawing.lettering import fitted, text_width
from workbench.drawing.palette import TEXT
from workbench.drawing.template import LETTER, error_bars, new_figure, set_title
from workbench.drawing.words import plain, plain_lines

BAR, ROW_GAP, AXIS_TITLE = 18, 8, 64  # pixels
BARS_OF_ROW = 0.75  # of the room of a row, which its bars share
PANEL = 560  # pixels of a figure in a notebook cell
LEAST_HEIGHT = 124  # pixels of a plot above a legend: below them its title and its numbers would run together
LABEL_ROOM, TEXT_ROOM = 260.0, 230.0
DETAIL_COLUMNS = 60

Points: TypeAlias = list[tuple[int, Value]]  # values with the indices of their rows


def chart_figure(chart: Chart) -> go.Figure:
    """Return the chart as a plotly figure."""
    columns = _columns(chart)
    lines = -(-len(chart.axes) // columns)
    plot_height = _row_height(chart) * max(1, len(chart.rows)) + AXIS_TITLE
    figure = make_subplots(
        lines, columns, figure=new_figure(), shared_yaxes=True, horizontal_spacing=0.04,
        vertical_spacing=AXIS_TITLE / (plot_height * lines) if lines > 1 else 0,
    )  # fmt: skip
    in_legend: set[str] = set()
    for index, axis in enumerate(chart.axes):
        place = {"row": index // columns + 1, "col": index % columns + 1}
        for name, points in _series(chart, index):
            trace = (_dots if axis.kind == "dot" else _bars)(chart, points, axis)
            trace.update(
                name=plain(name), legendgroup=plain(name), showlegend=bool(name) and name not in in_legend
            )
            figure.add_trace(trace, **place)
            in_legend.add(name)
        for line in axis.lines:
            text = {"text": plain(line.text), "font": {"color": TEXT}} if line.text else None
            style = {"color": TEXT, "width": 1, "dash": "dot" if line.text else "solid"}
            figure.add_vline(x=line.value, line=style, annotation=text, **place)
        figure.update_xaxes(title_text=plain(axis.title), range=_range(chart, index), **place)
        _explain_absent(figure, chart, index, place)
    labels = [plain(_label(row.label)) for row in chart.rows]
    figure.update_yaxes(
        tickvals=list(range(len(labels))), ticktext=labels, range=[len(labels) - 0.5, -0.5],
        showgrid=False, zeroline=False,
    )  # fmt: skip
    stacked = any(axis.kind == "stack" for axis in chart.axes)
    figure.update_layout(barmode="stack" if stacked else "group", bargap=1 - BARS_OF_ROW)
    height = max(plot_height * lines, LEAST_HEIGHT if in_legend - {""} else 0)
    return set_title(figure, chart.sentences, chart.note, height)


def _columns(chart: Chart) -> int:
    return min(chart.columns, len(chart.axes))


def _series(chart: Chart, axis: int) -> list[tuple[str, Points]]:
    """Return the series of the axis with a value, or with the place of a bar beside others.

    Dots without a name are a series for each colour.
    """
    series: dict[tuple[str, str], Points] = {}
    shown: set[tuple[str, str]] = set()
    kind = chart.axes[axis].kind
    for at, row in enumerate(chart.rows):
        beside = kind == "bar" and not _is_absent(row.values[axis])
        for value in row.values[axis]:
            key = value.look.name, value.look.color if kind == "dot" else ""
            series.setdefault(key, []).append((at, value))
            if beside or value.value is not None:
                shown.add(key)
    return [(key[0], points) for key, points in series.items() if key in shown]


def _is_absent(values: Sequence[Value]) -> bool:
    return all(value.value is None for value in values)


def _bars(chart: Chart, points: Points, axis: Axis) -> go.Bar:
    has_texts = axis.kind == "bar"
    return go.Bar(
        **_common(chart, points),
        orientation="h",
        marker={
            "color": [value.look.color for _, value in points],
            "pattern": {"shape": [value.look.pattern for _, value in points]},
            "line": {"color": TEXT, "width": 1},
        },
        text=[plain(_bar_text(value)) for _, value in points] if has_texts else None,
        textposition="outside" if has_texts else None,
        cliponaxis=False,
    )


def _dots(chart: Chart, points: Points, _axis: Axis) -> go.Scatter:
    return go.Scatter(
        **_common(chart, points),
        mode="markers",
        marker={
            "color": [value.look.color for _, value in points],
            "symbol": [f"{v.look.symbol}-open" if v.look.hollow else v.look.symbol for _, v in points],
            "size": 11,
        },
    )


def _common(chart: Chart, points: Points) -> dict[str, Any]:
    values = [value for _, value in points]
    ends = (value.interval or (None, None) for value in values)
    intervals = [(low, value.value, high) for value, (low, high) in zip(values, ends, strict=True)]
    return {
        "x": [value.value for value in values],
        "y": [at for at, _ in points],
        "error_x": error_bars(intervals, thickness=2, color=values[0].look.color),
        "hoverinfo": "text",
        "hovertext": [_hover(chart.rows[at].label, value) for at, value in points],
    }


def _explain_absent(figure: go.Figure, chart: Chart, axis: int, place: dict[str, int]) -> None:
    """Write why a row, or a bar beside others, has no value on the axis."""
    names = [name for name, _ in _series(chart, axis)]
    for at, row in enumerate(chart.rows):
        values = row.values[axis]
        reasons = {0.0: values[0]} if values and _is_absent(values) else {}
        if not reasons and chart.axes[axis].kind == "bar":
            places = ((names.index(value.look.name), value) for value in values if value.value is None)
            reasons = {BARS_OF_ROW * ((bar + 0.5) / len(names) - 0.5): value for bar, value in places}
        for down, value in reasons.items():
            figure.add_annotation(
                text=plain(_bar_text(value)), x=0.01, xref="x domain", y=at + down, showarrow=False,
                xanchor="left", **place,
            )  # fmt: skip


def _range(chart: Chart, axis: int) -> list[float]:
    """Return what the axis shows: all values, and the texts behind the ends of bars."""
    least, most = chart.span(axis)
    if chart.axes[axis].kind == "dot":
        return [least, most]
    sides = (least < 0) + (most > 0)
    texts = [_bar_text(value) for index, value in chart.all_values() if index == axis]
    widest = 8 + max((text_width(text, LETTER) for text in texts), default=0.0)
    beside = max((text_width(_label(row.label), LETTER) for row in chart.rows), default=0.0)
    panel = (PANEL - beside) / _columns(chart)
    share = 0.02 if chart.axes[axis].kind == "stack" else min(0.35, widest / panel)
    room = share * (most - least) / (1 - sides * share)
    return [least - (room if least < 0 else 0), most + (room if most > 0 else 0)]


def _hover(label: str, value: Value) -> str:
    named = f"{value.look.name}: {value.text}" if value.look.name else value.text
    lines = [plain(label), plain(named)]
    return "<br>".join([*lines, *([plain_lines(value.detail, DETAIL_COLUMNS)] if value.detail else [])])


def _label(label: str) -> str:
    """Keep the end of a path, which tells it from others."""
    return fitted(label, LETTER, LABEL_ROOM, keep="end" if "/" in label else "start")


def _bar_text(value: Value) -> str:
    """Return the text behind a bar; where an interval is drawn, the text is on hover only."""
    return "" if value.interval else fitted(value.text, LETTER, TEXT_ROOM)


def _row_height(chart: Chart) -> int:
    most = max(
        (len(values) for row in chart.rows for values, axis in zip(row.values, chart.axes, strict=True)
         if axis.kind == "bar"), default=1,
    )  # fmt: skip
    return BAR * max(1, most) + ROW_GAP
