"""Rectangles, lines and texts in pixels: what a still picture is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from workbench.core.text import one_line
from workbench.drawing.lettering import fitted
from workbench.drawing.palette import TEXT, Pattern

HATCH = 6.0  # pixels between the lines of a hatching
MOST_TITLE = 600
Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Rect:
    """A rectangle; `opacity` is that of its fill. Colours are #rrggbb."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    opacity: float = 1.0
    stroke: str | None = None
    stroke_width: float = 1.0
    radius: float = 0.0
    hatch: Pattern = ""
    ink: str = TEXT  # of the hatching


@dataclass(frozen=True, slots=True)
class Line:
    """A straight line; `dash` is (drawn, left out) in pixels."""

    x1: float
    y1: float
    x2: float
    y2: float
    stroke: str = TEXT
    width: float = 1.0
    dash: tuple[float, float] | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class Polyline:
    """Joined points; filled where `fill` is given, which also closes it."""

    points: tuple[tuple[float, float], ...]
    stroke: str | None = TEXT
    width: float = 1.0
    fill: str | None = None
    opacity: float = 1.0


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of text; `y` is its baseline. What is wider than `room` is cut."""

    x: float
    y: float
    text: str
    size: float = 12.0
    bold: bool = False
    color: str = TEXT
    anchor: Anchor = "start"
    room: float | None = None

    @property
    def shown(self) -> str:
        """Return the text in one line, cut to its room."""
        if self.room is None:
            return one_line(self.text, MOST_TITLE)
        return fitted(self.text, self.size, self.room, bold=self.bold)


Shape: TypeAlias = Rect | Line | Polyline | TextLine


def hatching(rect: Rect) -> Iterator[Line]:
    """Yield the lines of a rectangle's hatching."""
    if not rect.hatch or rect.width <= 0 or rect.height <= 0:
        return
    left, top, right, bottom = rect.x, rect.y, rect.x + rect.width, rect.y + rect.height
    ink = rect.ink
    if rect.hatch in "-+":
        yield from (Line(left, y, right, y, ink, 0.8) for y in _steps(top, bottom))
    if rect.hatch in "|+":
        yield from (Line(x, top, x, bottom, ink, 0.8) for x in _steps(left, right))
    if rect.hatch in "/x":
        for both in _steps(left + top, right + bottom):  # x + y is the same all along such a line
            x1, x2 = max(left, both - bottom), min(right, both - top)
            yield Line(x1, both - x1, x2, both - x2, ink, 0.8)
    if rect.hatch in "\\x":
        for apart in _steps(left - bottom, right - top):  # and here x - y
            x1, x2 = max(left, apart + top), min(right, apart + bottom)
            yield Line(x1, x1 - apart, x2, x2 - apart, ink, 0.8)
    if rect.hatch == ".":
        for y in _steps(top, bottom):
            yield from (Line(x - 0.7, y, x + 0.7, y, ink, 1.4) for x in _steps(left, right))


def column(
    lines: Iterable[str], x: float, y: float, *, step: float = 17, size: float = 12, bold: bool = False,
    room: float | None = None,
) -> tuple[TextLine, ...]:  # fmt: skip
    """Return lines of text below each other, the first at baseline `y`."""
    return tuple(TextLine(x, y + at * step, line, size, bold, room=room) for at, line in enumerate(lines))


def _steps(start: float, stop: float) -> Iterator[float]:
    at = start + HATCH / 2
    while at < stop:
        yield at
        at += HATCH
