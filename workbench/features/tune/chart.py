"""The candidates of a study: the Pareto front with its intervals, and the speed, memory and error of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import workbench.features.tune.pareto as front
from workbench.core.bundle.display import config_in_words
from workbench.core.text import factor, shorten
from workbench.drawing.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    ReferenceLine,
    Value,
    mebibytes,
    one_value,
    percent,
    rows_left_out,
    size_value,
)
from workbench.drawing.palette import BLUE, GAIN, TEXT, VERMILLION
from workbench.drawing.words import plain
from workbench.features.tune.record import OBJECTIVE_WORDS

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.features.tune.record import StudyRecord

_MOST_ROWS = 16
_HEIGHT = 420
_DEFAULT = Look(BLUE, "", "circle", "ORT defaults")
_BEST = Look(VERMILLION, "", "diamond", "best")
FRONT = Look(GAIN, "", "square", "beaten by none in everything")
_OTHER = Look(TEXT, "", "cross", "beaten")
_NOTE = "the ratio of the best one is measured anew after the choice"


def study_chart(record: StudyRecord) -> Chart:
    """Return a row for each candidate: its ratio, its memory, its error."""
    points = front.points_of(record)
    ranked = sorted(points, key=lambda point: -point.first.ratio)
    has_error = any(point.error for point in points)
    axes = [
        Axis(_title(record.objective), "dot", (ReferenceLine(1.0),)),
        Axis("peak memory (MiB)", "dot"),
        *([Axis("error (% of the output)", "dot")] if has_error else []),
    ]
    rows = tuple(_row(record, point, has_error) for point in ranked[:_MOST_ROWS])
    note = "; ".join(filter(None, (_knee(points), rows_left_out(len(points), _MOST_ROWS, "configs"), _NOTE)))
    return Chart((record.headline,), tuple(axes), rows, note)


def study_figure(record: StudyRecord) -> go.Figure:
    """Draw the Pareto front with plotly: the first objective against the second one, or what it costs."""
    from workbench.drawing.template import error_bars, new_figure, set_title

    points, figure = front.points_of(record), new_figure()
    title, costs = _costs(record, points)
    for look in (_OTHER, FRONT, _DEFAULT, _BEST):
        drawn = [point for point in points if _look(record, point) is look and costs[point.label] is not None]
        seconds = [point.axis(record.further[0]) if record.further else None for point in drawn]
        figure.add_scatter(
            x=[point.first.ratio for point in drawn],
            y=[costs[point.label] for point in drawn],
            error_x=error_bars((_ends(point.first) for point in drawn), 0.0, thickness=1),
            error_y=error_bars(map(_ends, seconds), 0.0, thickness=1),
            mode="markers+text",
            name=look.name,
            text=[plain(point.label) + (", knee" if point.is_knee else "") for point in drawn],
            textposition="top center",
            marker={
                "color": look.color,
                "symbol": look.symbol,
                "size": [15 if point.is_knee else 10 for point in drawn],
            },
            customdata=[[plain(_words(point))] for point in drawn],
            ids=[plain(point.label) for point in drawn],
            meta="candidates",
            hovertemplate="%{customdata[0]}<extra></extra>",
        )
    edge = sorted((point for point in points if point.on_front), key=lambda point: point.first.ratio)
    figure.add_scatter(
        x=[point.first.ratio for point in edge],
        y=[costs[point.label] for point in edge],
        mode="lines",
        line={"color": GAIN, "dash": "dot", "width": 1},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.update_xaxes(title_text=_title(record.objective))
    figure.update_yaxes(title_text=title)
    note = "; ".join(filter(None, (_knee(points), f"front: {front.front_in_words(record)}", _NOTE)))
    return set_title(figure, (record.headline,), note, _HEIGHT)


def _title(objective: str) -> str:
    if objective == "latency":
        return "speed-up (times, while selecting)"
    return f"{dict(OBJECTIVE_WORDS)[objective]} (times as good, while selecting)"  # type: ignore[index]


def _costs(record: StudyRecord, points: tuple[front.FrontPoint, ...]) -> tuple[str, dict[str, float | None]]:
    """Return the title and the values of the second axis."""
    if record.further:
        name = record.further[0]
        axes = {point.label: point.axis(name) for point in points}
        return _title(name), {label: None if axis is None else axis.ratio for label, axis in axes.items()}
    if any(point.error for point in points):
        return "error (% of the output)", {point.label: percent(point.error) for point in points}
    return "peak memory (MiB)", {point.label: mebibytes(point.memory_bytes) for point in points}


def _ends(axis: front.FrontAxis | None) -> tuple[float | None, float | None, float | None]:
    """Return the ratio between the ends of its interval; None: it is not known, or has no end."""
    return (
        (None, None, None) if axis is None else (axis.low, axis.ratio, axis.high if axis.high < 1e6 else None)
    )


def _factor(axis: front.FrontAxis) -> str:
    low, ratio, high = _ends(axis)
    return factor(ratio or axis.ratio, low, high)


def _words(point: front.FrontPoint) -> str:
    axes = ", ".join(f"{axis.name} {_factor(axis)}" for axis in point.axes)
    return f"{point.label} {shorten(config_in_words(point.config), 120)}: {axes}"


def _knee(points: tuple[front.FrontPoint, ...]) -> str:
    return next((f"knee: {point.label}" for point in points if point.is_knee), "")


def _row(record: StudyRecord, point: front.FrontPoint, has_error: bool) -> ChartRow:
    look = _look(record, point)
    words = shorten(f"{point.label} {config_in_words(point.config)}", 80)
    is_default = point.label == record.candidates[0].label
    memory = size_value(point.memory_bytes, look)
    text = "not known" if point.error is None else f"{point.error * 100:.2g} %"
    errors = (Value(percent(point.error), text, look),) if has_error else ()
    speed = Value(
        point.first.ratio,
        _factor(point.first),
        look,
        None if is_default else point.first.low,
        None if is_default else point.first.high,
        record.candidate(point.label).stage,
    )
    return one_value(words, speed, memory, *errors)


def _look(record: StudyRecord, point: front.FrontPoint) -> Look:
    if point.label == record.candidates[0].label:
        return _DEFAULT
    if point.label == record.best:
        return _BEST
    return FRONT if point.on_front else _OTHER
