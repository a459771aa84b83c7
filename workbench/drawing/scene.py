"""A picture as values: shapes in pixels, written as SVG or drawn as PNG.

Every result has one, so that it is seen where nothing can be run: no browser, no plotly, no font of the
system. Texts are untrusted; one with `room` never leaves it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from workbench.core.text import one_line
from workbench.drawing.lettering import FAMILY, drawable, text_width
from workbench.drawing.raster import to_png
from workbench.drawing.shapes import MOST_TITLE, Line, Polyline, Rect, Shape, TextLine, hatching


@dataclass(frozen=True, slots=True)
class Scene:
    """Marks in drawing order on a transparent ground: grey text is readable on any page."""

    width: float
    height: float
    title: str  # for screen readers; untrusted
    shapes: tuple[Shape, ...]

    def to_svg(self) -> str:
        """Return the picture as SVG, with every text escaped."""
        size = f'width="{_number(self.width)}" height="{_number(self.height)}"'
        body = "\n".join(self._svg())
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_number(self.width)} '
            f'{_number(self.height)}" {size} role="img" font-family="{FAMILY}">\n'
            f"<title>{escape(one_line(self.title, MOST_TITLE))}</title>\n{body}\n</svg>\n"
        )

    def to_png(self, scale: float = 2) -> bytes:
        """Return the picture as PNG; `scale` 2 is sharp on dense screens."""
        return to_png(self.shapes, (self.width, self.height), scale)

    def _svg(self) -> Iterator[str]:
        for mark in self.shapes:
            if isinstance(mark, Rect):
                yield _rect(mark)
                yield from (_line(line) for line in hatching(mark))
            elif isinstance(mark, Line):
                yield _line(mark)
            elif isinstance(mark, Polyline):
                yield _polyline(mark)
            elif shown := mark.shown:
                yield _text(mark, shown)


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


def _text(mark: TextLine, shown: str) -> str:
    anchor = f' text-anchor="{mark.anchor}"' if mark.anchor != "start" else ""
    bold = ' font-weight="bold"' if mark.bold else ""
    # The system's font may be wider than the measured one: `textLength` keeps the text inside its room.
    width = text_width(shown, mark.size, bold=mark.bold)
    free = mark.room is None or drawable(shown) != shown
    length = "" if free else f' textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"'
    return (
        f'<text x="{_number(mark.x)}" y="{_number(mark.y)}" font-size="{mark.size:g}" '
        f'fill="{_color(mark.color)}"{anchor}{bold}{length}>{escape(shown)}</text>'
    )


def _color(color: str | None) -> str:
    return "none" if color is None else escape(color)


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
