"""Bars as a scene: a label, one or more bars from zero, the number behind each, all within one width."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from workbench.figures.lettering import broken, text_width
from workbench.figures.palette import TEXT, Pattern
from workbench.figures.scene import Scene
from workbench.figures.shapes import Line, Mark, Rect, Text

WIDTH, MARGIN = 760, 16
MOST_LABEL, MOST_NUMBER = 270, 250
LINE, BAR, GAP, BETWEEN = 19, 15, 3, 9
SMALL = 12


@dataclass(frozen=True, slots=True)
class Look:
    """How a series is drawn, and what it is called where there are several."""

    color: str
    pattern: Pattern
    name: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One value with its interval; None: there is none, and `text` says why. Texts may be anybody's."""

    value: float | None
    text: str
    look: Look
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """Bars that belong together."""

    label: str
    bars: tuple[Bar, ...]


def bars_scene(title: str, rows: Sequence[Row], *, lines: Sequence[str] = (), note: str = "") -> Scene:
    """The title bold, sentences under it, then a row each; values below zero grow to the left."""
    room = WIDTH - 2 * MARGIN
    marks: list[Mark] = []
    y = float(MARGIN)
    for text, size, bold in ((title, 14.0, True), *((one, 12.0, False) for one in lines)):
        for line in broken(text, size, room, bold=bold, most=4):
            y += LINE
            marks.append(Text(MARGIN, y, line, size, bold, room=room))
    looks = list(dict.fromkeys(bar.look for row in rows for bar in row.bars if bar.look.name))
    if len(looks) > 1:
        y += LINE + 2
        marks += _legend(looks, y)
    y += BETWEEN + 4
    frame = _Frame(rows)
    for row in rows:
        marks += frame.draw(row, y)
        y += len(row.bars) * (BAR + GAP) + BETWEEN
    if rows and frame.zero > frame.left:
        marks.append(Line(frame.zero, y - BETWEEN, frame.zero, frame.top(y, rows), TEXT))
    for line in broken(note, SMALL, room, most=3) if note else ():
        y += 16
        marks.append(Text(MARGIN, y, line, SMALL, room=room))
    return Scene(WIDTH, y + MARGIN, title, tuple(marks))


class _Frame:
    """Where labels end, bars stand and numbers begin: the same for all rows."""

    def __init__(self, rows: Sequence[Row]) -> None:
        labels = [text_width(row.label[:80], SMALL) for row in rows]
        numbers = [text_width(bar.text[:80], SMALL) for row in rows for bar in row.bars]
        self.label_room = min(MOST_LABEL, max(labels, default=0.0))
        self.number_room = min(MOST_NUMBER, max(numbers, default=0.0))
        self.left = MARGIN + self.label_room + 10
        self.right = WIDTH - MARGIN - self.number_room - 10
        bars = [bar for row in rows for bar in row.bars if bar.value is not None]
        ends = [edge for bar in bars for edge in (bar.value, bar.low, bar.high) if edge is not None]
        least, most = min(0.0, *ends, 0.0), max(0.0, *ends, 0.0)
        self.per_unit = (self.right - self.left) / ((most - least) or 1.0)
        self.zero = self.left - least * self.per_unit

    def top(self, bottom: float, rows: Sequence[Row]) -> float:
        return bottom - sum(len(row.bars) * (BAR + GAP) + BETWEEN for row in rows)

    def draw(self, row: Row, y: float) -> Iterator[Mark]:
        middle = y + len(row.bars) * (BAR + GAP) / 2
        end = MARGIN + self.label_room
        keep: Literal["start", "end"] = "end" if "/" in row.label else "start"  # a node's name is a path
        yield Text(end, middle + 3, row.label, SMALL, anchor="end", room=self.label_room, keep=keep)
        for bar in row.bars:
            yield from self._bar(bar, y)
            y += BAR + GAP

    def _bar(self, bar: Bar, y: float) -> Iterator[Mark]:
        if bar.value is not None:
            start, end = sorted((self.zero, self.zero + bar.value * self.per_unit))
            look = bar.look
            yield Rect(start, y, end - start, BAR, look.color, 0.6, look.color, hatch=look.pattern)
            if bar.low is not None and bar.high is not None:
                low, high = (self.zero + edge * self.per_unit for edge in (bar.low, bar.high))
                for at in (low, high):
                    yield Line(at, y + 3, at, y + BAR - 3, TEXT, 2)
                yield Line(low, y + BAR / 2, high, y + BAR / 2, TEXT, 2)
        yield Text(self.right + 10, y + BAR - 3, bar.text, SMALL, room=self.number_room)


def _legend(looks: Sequence[Look], y: float) -> Iterator[Mark]:
    x = float(MARGIN)
    for look in looks:
        yield Rect(x, y - 10, 12, 12, look.color, 0.6, look.color, hatch=look.pattern)
        yield Text(x + 18, y, look.name, SMALL, room=200)
        x += 18 + min(200.0, text_width(look.name, SMALL)) + 18
