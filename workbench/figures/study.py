"""The candidates of a study: their speed-up with its interval, and the front against memory or error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import workbench.search.pareto as front
from workbench.figures.chart import (
    Axis,
    Chart,
    ChartRow,
    Look,
    ReferenceLine,
    Value,
    mebibytes,
    rows_left_out,
)
from workbench.figures.drawing import chart_figure, chart_scene
from workbench.figures.palette import BLUE, GAIN, TEXT, VERMILLION
from workbench.records.display import config_in_words
from workbench.text import in_mib, shorten

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene
    from workbench.records.study import StudyRecord

MOST_ROWS = 16
DEFAULT = Look(BLUE, "", "circle", "ORT defaults")
BEST = Look(VERMILLION, "", "diamond", "best")
FRONT = Look(GAIN, "", "square", "beaten by none in everything")
OTHER = Look(TEXT, "", "cross", "beaten")


def study_chart(record: StudyRecord) -> Chart:
    """Return a row for each candidate: its speed-up, its memory, its error."""
    points = front.points_of(record)
    ranked = sorted(points, key=lambda point: -point.speedup)
    has_error = any(point.error for point in points)
    axes = [
        Axis("speed-up (times, while selecting)", "dot", (ReferenceLine(1.0),)),
        Axis("peak memory (MiB)", "dot"),
        *([Axis("error (% of the output)", "dot")] if has_error else []),
    ]
    rows = tuple(_row(record, point, has_error) for point in ranked[:MOST_ROWS])
    knees = [point.label for point in points if point.is_knee]
    note = "; ".join(
        text
        for text in (
            f"knee: {knees[0]}" if knees else "",
            rows_left_out(len(points), MOST_ROWS, "configs"),
            "the ratio of the best one is measured anew after the choice",
        )
        if text
    )
    return Chart((record.headline,), tuple(axes), rows, note)


def study_figure(record: StudyRecord) -> go.Figure:
    """Draw the chart with plotly."""
    return chart_figure(study_chart(record))


def study_scene(record: StudyRecord) -> Scene:
    """Draw the chart as a still picture."""
    return chart_scene(study_chart(record))


def _row(record: StudyRecord, point: front.Point, has_error: bool) -> ChartRow:
    look = _look(record, point)
    words = shorten(f"{point.label} {config_in_words(point.config)}", 80)
    is_default = point.label == record.candidates[0].label
    memory = Value(mebibytes(point.memory_bytes), in_mib(point.memory_bytes) or "not known", look)
    error = Value(
        None if point.error is None else point.error * 100,
        "not known" if point.error is None else f"{point.error * 100:.2g} %",
        look,
    )
    speed = Value(
        point.speedup,
        f"{point.speedup:.2f}×",
        look,
        None if is_default else point.low,
        None if is_default else point.high,
        record.candidate(point.label).stage,
    )
    return ChartRow(words, ((speed,), (memory,), *(((error,),) if has_error else ())))


def _look(record: StudyRecord, point: front.Point) -> Look:
    if point.label == record.candidates[0].label:
        return DEFAULT
    if point.label == record.best:
        return BEST
    return FRONT if point.on_front else OTHER
