"""A picture as values: rectangles, lines and texts in pixels, written as SVG or drawn as PNG.

Every result has one, so that it is seen where nothing can be run: no browser, no plotly, no font of the
system. Texts may be anybody's; one with `room` never leaves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from typing import Literal, TypeAlias

from workbench.figures.lettering import fitted, is_spelled, text_width
from workbench.figures.palette import TEXT, Pattern
from workbench.figures.words import one_line

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
class Text:
    """One line of text; `y` is its baseline. What is wider than `room` is cut."""

    x: float
    y: float
    text: str
    size: float = 12.0
    bold: bool = False
    color: str = TEXT
    anchor: Anchor = "start"
    room: float | None = None
    keep: Literal["start", "end"] = "start"  # of what is cut

    @property
    def shown(self) -> str:
        """As it is drawn: in one line, cut to its room."""
        if self.room is None:
            return one_line(self.text, MOST_TITLE)
        return fitted(self.text, self.size, self.room, bold=self.bold, keep=self.keep)


Mark: TypeAlias = Rect | Line | Polyline | Text


@dataclass(frozen=True, slots=True)
class Scene:
    """Marks in the order drawn. Without `ground` it is transparent, and grey texts read on any."""

    width: float
    height: float
    title: str  # read aloud in place of the picture; may be anybody's text
    marks: tuple[Mark, ...]
    ground: str | None = None

    def to_svg(self) -> str:
        """As SVG, every text escaped."""
        size = f'width="{_number(self.width)}" height="{_number(self.height)}"'
        body = "\n".join(self._svg())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(self.width)} '
            f'{_number(self.height)}" {size} role="img" font-family="sans-serif">\n'
            f"<title>{escape(one_line(self.title, MOST_TITLE))}</title>\n{body}\n</svg>\n"
        )

    def to_png(self, scale: float = 2) -> bytes:
        """As PNG, `scale` times as large: sharp on dense screens."""
        from workbench.figures.raster import to_png

        return to_png(self, scale)

    def _svg(self) -> Iterator[str]:
        if self.ground is not None:
            yield _rect(Rect(0, 0, self.width, self.height, self.ground))
        for mark in self.marks:
            if isinstance(mark, Rect):
                yield _rect(mark)
                yield from (_line(one) for one in hatching(mark))
            elif isinstance(mark, Line):
                yield _line(mark)
            elif isinstance(mark, Polyline):
                yield _polyline(mark)
            elif shown := mark.shown:
                yield _text(mark, shown)


def hatching(rect: Rect) -> Iterator[Line]:
    """The lines that tell a rectangle from others of its colour."""
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
) -> tuple[Text, ...]:  # fmt: skip
    """Lines of text one under the other, the first at baseline `y`."""
    return tuple(Text(x, y + at * step, line, size, bold, room=room) for at, line in enumerate(lines))


def _steps(start: float, stop: float) -> Iterator[float]:
    at = start + HATCH / 2
    while at < stop:
        yield at
        at += HATCH


def _rect(mark: Rect) -> str:
    radius = f' rx="{_number(mark.radius)}"' if mark.radius else ""
    place = f'x="{_number(mark.x)}" y="{_number(mark.y)}"'
    size = f'width="{_number(max(0.0, mark.width))}" height="{_number(max(0.0, mark.height))}"'
    faint = f' fill-opacity="{mark.opacity:g}"' if mark.fill and mark.opacity < 1 else ""
    line = f'stroke="{_color(mark.stroke)}" stroke-width="{mark.stroke_width:g}"' if mark.stroke else ""
    return f'<rect {place} {size}{radius} fill="{_color(mark.fill)}"{faint} {line}/>'


def _line(mark: Line) -> str:
    dash = f' stroke-dasharray="{mark.dash[0]:g} {mark.dash[1]:g}"' if mark.dash else ""
    faint = f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
    return (
        f'<path d="M{_number(mark.x1)} {_number(mark.y1)}L{_number(mark.x2)} {_number(mark.y2)}" '
        f'fill="none" stroke="{_color(mark.stroke)}" stroke-width="{mark.width:g}"{dash}{faint}/>'
    )


def _polyline(mark: Polyline) -> str:
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in mark.points)
    tag = "polygon" if mark.fill else "polyline"
    faint = f' opacity="{mark.opacity:g}"' if mark.opacity < 1 else ""
    stroke = f'stroke="{_color(mark.stroke)}" stroke-width="{mark.width:g}"' if mark.stroke else ""
    return f'<{tag} points="{points}" fill="{_color(mark.fill)}"{faint} {stroke}/>'


def _text(mark: Text, shown: str) -> str:
    anchor = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    bold = ' font-weight="bold"' if mark.bold else ""
    # The system's font may be wider than the one measured with: told its length, it stays inside its room.
    width = text_width(shown, mark.size, bold=mark.bold)
    free = mark.room is None or is_spelled(shown)
    length = "" if free else f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{mark.size:g}" '
        f'fill="{_color(mark.color)}"{anchor}{bold}{length}>{escape(shown)}</text>'
    )


def _color(color: str | None) -> str:
    return "none" if color is None else escape(color)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
