"""The latencies of each run as a still picture: the same rows as the live figure."""

from __future__ import annotations

import math
from collections.abc import Iterator

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.text import one_line
from workbench.drawing.chart import run_look
from workbench.drawing.chart_scene import MARGIN, SMALL, WIDTH, captioned, captions, ticks
from workbench.drawing.lettering import broken, text_width
from workbench.drawing.palette import TEXT
from workbench.drawing.scale import log_ticks, tick_text
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Line, Polyline, Rect, Shape, TextLine, column
from workbench.drawing.strips import (
    ABOVE,
    AXIS,
    BELOW,
    DENSITY,
    LABEL,
    ROW,
    SAMPLES,
    LatencyData,
    Strip,
    beyond_text,
    density,
    latency_data,
    spread,
)

LEFT, RIGHT = 150.0, WIDTH - MARGIN  # of the axis
_DOT = 2.2  # half its size
_ABSENT = 60  # letters


def latency_scene(record: ComparisonRecord, headline: str = "") -> Scene:
    """Draw a row for each run; `headline` stands above where nothing is judged."""
    data = latency_data(record, most=2000)
    shapes, top = captions(data.title or ((headline,) if headline else ()))
    height = ROW * (len(data.rows) - 1 + ABOVE + BELOW)
    span = data.view_s or data.span_s or (0.0, 1.0)
    shapes += _axis(data, span, top, top + height)
    for index, row in enumerate(data.rows):
        shapes += _row(data, row, index, span, top + ROW * (ABOVE + index))
    return captioned(data.title or (headline,), data.note, shapes, top + height + AXIS - 12)


def _x(data: LatencyData, span: tuple[float, float], value_s: float) -> float:
    least, end, value = (math.log(max(v, 1e-12)) if data.scale.log else v for v in (*span, value_s))
    room = 0.03 * (end - least) or abs(end) or 1.0
    return LEFT + (value - least + room) / (end - least + 2 * room) * (RIGHT - LEFT)


def _axis(data: LatencyData, span: tuple[float, float], top: float, bottom: float) -> Iterator[Shape]:
    scale = data.scale
    if data.span_s is None:
        return
    least, end = map(scale.of, span)
    for tick in log_ticks(least, end) if scale.log else ticks(least, end if end > least else least + 1.0, 6):
        x = _x(data, span, tick / scale.per_s)
        if LEFT <= x <= RIGHT:
            yield Line(x, top, x, bottom, TEXT, 0.5, opacity=0.4)
            yield TextLine(x, bottom + 14, tick_text(tick), SMALL, anchor="middle")
    yield TextLine((LEFT + RIGHT) / 2, bottom + 34, f"latency of one run ({scale.unit})", 13, anchor="middle")


def _row(
    data: LatencyData, row: Strip, index: int, span: tuple[float, float], middle: float
) -> Iterator[Shape]:
    look, room = run_look(index), LEFT - MARGIN - 8
    color = TEXT if row.all_aside else look.color
    yield TextLine(LEFT - 8, middle - 6, row.label, 13, bold=True, color=look.color, anchor="end", room=room)
    for at, line in enumerate(broken(row.text, SMALL, room, most=3)):
        yield TextLine(LEFT - 8, middle + 9 + 14 * at, line, SMALL, anchor="end", room=room)
    if not row.drawn:
        text = "nothing was measured" if row.failure is None else one_line(row.failure, _ABSENT)
        yield TextLine(LEFT + 8, middle, text, SMALL, room=RIGHT - LEFT - 8)
        return

    def x(value_s: float) -> float:
        return _x(data, span, value_s)

    curve = [
        (x(place), middle - ROW * DENSITY * height)
        for place, height in density(row.samples_s or row.aside_s, log=data.scale.log)
        if LEFT <= x(place) <= RIGHT
    ]
    if len(curve) > 2:
        area = ((curve[0][0], middle), *curve, (curve[-1][0], middle))
        yield Polyline(area, None, fill=color, opacity=0.2)
        yield Polyline(tuple(curve), color, 1.5)
    for values_s, ink, fill in ((row.aside_s, TEXT, None), (row.samples_s, look.color, look.color)):
        for value_s, height in zip(values_s, spread(len(values_s)), strict=True):
            if x(value_s) <= RIGHT:
                left, y = x(value_s) - _DOT, middle - ROW * height - _DOT
                yield Rect(left, y, 2 * _DOT, 2 * _DOT, fill, 0.6, None if fill else ink, 0.8, radius=_DOT)
    if row.beyond:
        yield TextLine(
            RIGHT, middle - ROW * SAMPLES[0] + 13, beyond_text(row, data.scale), SMALL, anchor="end"
        )
    yield from _median(data, row, span, color, middle)


def _median(
    data: LatencyData, row: Strip, span: tuple[float, float], color: str, middle: float
) -> Iterator[Shape]:
    median = row.median
    if median.value is None:
        yield from column(
            [f"no median: {median.note}"], LEFT + 8, middle - ROW * LABEL + 12, room=RIGHT - LEFT - 8
        )
        return
    at = _x(data, span, median.value)
    if median.low is not None and median.high is not None:
        low, high = (min(RIGHT, max(LEFT, _x(data, span, end))) for end in (median.low, median.high))
        yield Rect(low, middle - 4, high - low, 8, color, 0.5)
    yield Line(at, middle - ROW * SAMPLES[0], at, middle - ROW * LABEL, color, 2.5)
    text = data.scale.text(median.value, 3)
    half = text_width(text, 13, bold=True) / 2
    place = min(RIGHT - half, max(LEFT + half, at))
    yield TextLine(place, middle - ROW * LABEL - 5, text, 13, bold=True, anchor="middle")
