"""Draw a chart as a still picture."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.drawing.chart import Axis, Chart, ChartRow, Look, Value
from workbench.drawing.lettering import broken, fitted, text_width
from workbench.drawing.palette import TEXT
from workbench.drawing.scale import tick_text
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Line, Polyline, Rect, Shape, TextLine, column

WIDTH, MARGIN = 760, 16
ROOM = WIDTH - 2 * MARGIN
TITLE, SMALL = 14.0, 12.0
TITLE_LINE, SMALL_LINE = 19, 16
MOST_LABEL, MOST_TEXT = 270.0, 250.0
BAR, BAR_GAP, ROW_GAP, AXIS_GAP, LABEL_LINE = 15, 3, 8, 26, 14
_DOT = 5.0  # half its size
LEGEND_ROOM = 200.0
_MOST_TICKS = 5


def chart_scene(chart: Chart) -> Scene:
    """Return the chart as a still picture: sentences, legend, axes with their rows, note."""
    shapes, y = captions(chart.sentences)
    names, y = legend(chart.looks(), y, dots=all(axis.kind == "dot" for axis in chart.axes))
    shapes += names
    for panels in _lines_of_panels(chart):
        y += AXIS_GAP
        heights = [_row_height(chart, row, panels) for row in chart.rows]
        shapes += (shape for panel in panels for shape in panel.scale(y, sum(heights)))
        for row, height in zip(chart.rows, heights, strict=True):
            shapes += _row(row, panels, y, height)
            y += height
        y += SMALL_LINE
    return captioned(chart.sentences, chart.note, shapes, y)


def captions(sentences: Sequence[str]) -> tuple[list[Shape], float]:
    """Return the sentences above a picture, their heads bold, and where they end."""
    texts: list[Shape] = []
    y = float(MARGIN)
    for sentence in sentences:
        head, _, rest = sentence.partition("; ")
        for text, size, step in ((head, TITLE, TITLE_LINE), (rest, SMALL, SMALL_LINE)):
            bold = size == TITLE
            lines = broken(text, size, ROOM, bold=bold, most=4) if text else ()
            texts += column(lines, MARGIN, y + step, step=step, size=size, bold=bold, room=ROOM)
            y += step * len(lines)
    return texts, y


def captioned(sentences: Sequence[str], note: str, shapes: Sequence[Shape], y: float, most: int = 4) -> Scene:
    """Return a picture that ends at `y`, with its note below in at most `most` lines."""
    lines = broken(note, SMALL, ROOM, most=most) if note else ()
    notes = column(lines, MARGIN, y + SMALL_LINE, step=SMALL_LINE, size=SMALL, room=ROOM)
    height = y + SMALL_LINE * len(lines) + MARGIN
    return Scene(WIDTH, height, " ".join(sentences), (*shapes, *notes))


def legend(looks: Sequence[Look], y: float, *, dots: bool) -> tuple[list[Shape], float]:
    """Return the names of several looks below `y`, each behind its dot or its bar, and where they end."""
    if len(looks) < 2:
        return [], y
    names: list[Shape] = []
    x, y = float(MARGIN), y + TITLE_LINE + 2
    for look in looks:
        width = min(LEGEND_ROOM, text_width(look.name, SMALL))
        if x + width + 18 > WIDTH - MARGIN and x > MARGIN:
            x, y = float(MARGIN), y + TITLE_LINE
        names.append(dot(x + 6, y - 4, look) if dots else swatch(look, x, y - 10, 12, 12))
        names.append(TextLine(x + 18, y, look.name, SMALL, room=LEGEND_ROOM))
        x += width + 36
    return names, y


@dataclass(frozen=True, slots=True)
class _Panel:
    """One axis in pixels; the texts of its values stand at its right."""

    index: int
    axis: Axis
    left: float
    right: float
    text_room: float
    least: float
    most: float

    def x(self, value: float) -> float:
        return self.left + (value - self.least) / (self.most - self.least) * (self.right - self.left)

    def scale(self, top: float, height: float) -> Iterator[Shape]:
        """Draw the title above, the grid behind the rows, and its numbers below."""
        yield TextLine(
            self.left, top - 8, self.axis.title, SMALL, room=self.right - self.left + self.text_room
        )
        for tick in ticks(self.least, self.most, _MOST_TICKS if self.right - self.left > 200 else 3):
            yield Line(self.x(tick), top, self.x(tick), top + height, TEXT, 0.5, opacity=0.4)
            yield TextLine(self.x(tick), top + height + 12, tick_text(tick), 10, anchor="middle")
        for line in (line for line in self.axis.lines if self.least <= line.value <= self.most):
            dash = (4.0, 3.0) if line.text else None
            yield Line(self.x(line.value), top, self.x(line.value), top + height, TEXT, 1, dash)
            if line.text:
                yield TextLine(self.x(line.value) + 4, top + height - 3, line.text, 10)

    def draw(self, row: ChartRow, y: float) -> Iterator[Shape]:
        """Draw a row's values at baseline `y`, with their texts."""
        values = row.values[self.index]
        if self.axis.kind == "bar":
            for at, value in enumerate(values):
                top = y + at * (BAR + BAR_GAP)
                yield from self._bar(value, 0.0, top)
                yield from self._whisker(value, top + BAR / 2, TEXT)
                yield self._text(value.text, top, absent=value.value is None)
        elif self.axis.kind == "stack":
            start = 0.0
            for value in values:
                yield from self._bar(value, start, y)
                start += value.value or 0.0
            yield self._text(row.totals[self.index] if row.totals else "", y)
        else:
            for value in values:
                yield from self._whisker(value, y + BAR / 2, value.look.color)
                if value.value is not None:
                    yield dot(self.x(value.value), y + BAR / 2, value.look)
            absent = all(value.value is None for value in values)
            yield self._text(", ".join(value.text for value in values), y, absent=absent)

    def _bar(self, value: Value, start: float, top: float) -> Iterator[Shape]:
        if value.value is not None:
            left, right = sorted((self.x(start), self.x(start + value.value)))
            yield swatch(value.look, left, top, right - left, BAR)

    def _whisker(self, value: Value, y: float, color: str) -> Iterator[Shape]:
        if value.interval is not None:
            low, high = map(self.x, value.interval)
            yield Line(low, y, high, y, color, 2)
            yield from (Line(end, y - 4, end, y + 4, color, 2) for end in (low, high))

    def _text(self, text: str, top: float, *, absent: bool = False) -> TextLine:
        """Return the text beside a value; an absent value leaves the place of its bar to the text."""
        left = self.left + 6 if absent else self.right + 8
        return TextLine(left, top + BAR - 3, text, SMALL, room=self.right + self.text_room - left)


def ticks(least: float, most: float, count: int = _MOST_TICKS) -> list[float]:
    """Return at most `count` + 1 round numbers from `least` to `most`."""
    rough = (most - least) / count
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(step * power for step in (1, 2, 5, 10) if step * power >= rough * (1 - 1e-9))
    return [
        number * step for number in range(math.ceil(least / step - 1e-9), math.floor(most / step + 1e-9) + 1)
    ]


def swatch(look: Look, x: float, y: float, width: float, height: float) -> Rect:
    """Return a bar in its colour and hatching."""
    return Rect(x, y, width, height, look.color, 0.6, look.color, hatch=look.pattern)


def dot(x: float, y: float, look: Look) -> Shape:
    """Return a dot with the symbol of its look."""
    fill = None if look.hollow else look.color
    if look.symbol in ("circle", "square"):
        radius = _DOT if look.symbol == "circle" else 0.0
        return Rect(x - _DOT, y - _DOT, 2 * _DOT, 2 * _DOT, fill, 1.0, look.color, 1.5, radius)
    corners = {
        "diamond": ((0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)),
        "triangle-up": ((0, -1.2), (1.2, 1), (-1.2, 1)),
    }
    cross = ((-1, -0.35), (-0.35, -0.35), (-0.35, -1), (0.35, -1), (0.35, -0.35), (1, -0.35), (1, 0.35),
             (0.35, 0.35), (0.35, 1), (-0.35, 1), (-0.35, 0.35), (-1, 0.35))  # fmt: skip
    points = tuple((x + _DOT * right, y + _DOT * down) for right, down in corners.get(look.symbol, cross))
    return Polyline((*points, points[0]), look.color, 1.5, fill)


def _lines_of_panels(chart: Chart) -> list[list[_Panel]]:
    """Return the axes line by line, as many side by side as the chart asks for and its texts allow."""
    for columns in range(min(chart.columns, len(chart.axes)), 0, -1):
        starts = range(0, len(chart.axes), columns)
        lines = [_panels(chart, range(at, min(at + columns, len(chart.axes)))) for at in starts]
        if columns == 1 or not any(_is_cut(chart, panel) for panels in lines for panel in panels):
            return lines
    return []


def _is_cut(chart: Chart, panel: _Panel) -> bool:
    """Return whether the title of an axis or the text of a value has too little room."""
    whole = panel.right - panel.left + panel.text_room
    texts = [(panel.axis.title, whole)]
    for row in chart.rows:
        absent = all(value.value is None for value in row.values[panel.index])
        room = whole - 6 if absent else panel.text_room - 8
        texts += [(text, room) for text in _texts(chart, row, panel.index)]
    return any(text_width(text[:80], SMALL) > room for text, room in texts)


def _panels(chart: Chart, indices: Sequence[int]) -> list[_Panel]:
    """Divide the width: labels, then the axes, each with a column of texts."""
    labels = max((text_width(row.label[:80], SMALL) for row in chart.rows), default=0.0)
    left = MARGIN + min(MOST_LABEL / len(indices) ** 0.5, labels + 1) + 10
    width = (WIDTH - MARGIN - left) / len(indices)
    panels = []
    for place, index in enumerate(indices):
        texts = (text_width(text[:80], SMALL) for row in chart.rows for text in _texts(chart, row, index))
        room = min(MOST_TEXT / len(indices), max(texts, default=0.0) + 12)
        start = left + place * width
        right = start + width - room - (10 if place + 1 < len(indices) else 0)
        panels.append(_Panel(index, chart.axes[index], start, right, room, *chart.span(index)))
    return panels


def _texts(chart: Chart, row: ChartRow, axis: int) -> tuple[str, ...]:
    if chart.axes[axis].kind == "stack":
        return row.totals[axis : axis + 1]
    texts = tuple(value.text for value in row.values[axis])
    return texts if chart.axes[axis].kind == "bar" else (", ".join(texts),)


def _row(row: ChartRow, panels: Sequence[_Panel], y: float, height: float) -> Iterator[Shape]:
    end = panels[0].left - 10
    lines = _label_lines(row, end - MARGIN)
    top = y + (height - ROW_GAP) / 2 - LABEL_LINE * len(lines) / 2
    for at, line in enumerate(lines, start=1):
        yield TextLine(end, top + at * LABEL_LINE - 3, line, SMALL, anchor="end", room=end - MARGIN)
    for panel in panels:
        yield from panel.draw(row, y)


def _label_lines(row: ChartRow, room: float) -> list[str]:
    """Return the label in at most two lines; the end of a path tells it from others."""
    if "/" in row.label:
        return [fitted(row.label, SMALL, room, keep="end")]
    return broken(row.label, SMALL, room, most=2)


def _row_height(chart: Chart, row: ChartRow, panels: Sequence[_Panel]) -> float:
    bars = [len(values) for values, axis in zip(row.values, chart.axes, strict=True) if axis.kind == "bar"]
    lines = len(_label_lines(row, panels[0].left - 10 - MARGIN))
    return max((BAR + BAR_GAP) * max(1, *bars, 1), LABEL_LINE * lines) + ROW_GAP
