"""Draw shapes into pixels: at twice the size, then reduced, so that slanted lines are smooth."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Iterator

from PIL import Image, ImageColor, ImageDraw

from workbench.drawing.lettering import drawable, font, text_width
from workbench.drawing.palette import TEXT
from workbench.drawing.shapes import Line, Polyline, Rect, Shape, TextLine, hatching

FINER = 2
MOST_PIXELS = 24_000_000  # at the finer size; a larger scene is drawn at a smaller scale
COLORS = 255
INCH = 96  # CSS pixels

Color = tuple[int, int, int, int]


def to_png(shapes: Iterable[Shape], size: tuple[float, float], scale: float) -> bytes:
    """Return the bytes of a PNG of `shapes`; the same shapes give the same bytes."""
    width, height = size
    zoom = min(scale * FINER, math.sqrt(MOST_PIXELS / max(1.0, width * height)))
    pixels = (max(1, round(width * zoom)), max(1, round(height * zoom)))
    # The transparent ground has the text's grey: the soft rims of letters do not turn dark.
    image = Image.new("RGBA", pixels, _rgba(TEXT, 0.0))
    brush = _Brush(image, zoom)
    for mark in shapes:
        brush.draw(mark)
    target = io.BytesIO()
    sharp = INCH * zoom / FINER
    small = image.reduce(FINER).quantize(COLORS, Image.Quantize.FASTOCTREE)  # a quarter of the bytes
    small.save(target, "PNG", dpi=(sharp, sharp))
    return target.getvalue()


class _Brush:
    def __init__(self, image: Image.Image, zoom: float) -> None:
        self._image, self._zoom = image, zoom
        self._draw = ImageDraw.Draw(image)

    def draw(self, mark: Shape) -> None:
        if isinstance(mark, Rect):
            self._rect(mark)
        elif isinstance(mark, Line):
            self._line(mark)
        elif isinstance(mark, Polyline):
            self._polyline(mark)
        elif shown := mark.shown:
            self._text(mark, shown)

    def _rect(self, mark: Rect) -> None:
        if mark.width < 0 or mark.height < 0:
            return
        zoom = self._zoom
        box = (mark.x * zoom, mark.y * zoom, (mark.x + mark.width) * zoom, (mark.y + mark.height) * zoom)
        if mark.fill is not None and mark.width and mark.height:
            self._filled(box, mark.radius * zoom, mark.fill, mark.opacity)
        for line in hatching(mark):
            self._line(line)
        if mark.stroke is not None:
            width = max(1, round(mark.stroke_width * zoom))
            self._draw.rounded_rectangle(box, mark.radius * zoom, None, _rgba(mark.stroke), width)

    def _filled(
        self, box: tuple[float, float, float, float], radius: float, fill: str, opacity: float
    ) -> None:
        if opacity >= 1:
            self._draw.rounded_rectangle(box, radius, _rgba(fill))
            return
        left, top = max(0, math.floor(box[0])), max(0, math.floor(box[1]))
        right = min(self._image.width, math.ceil(box[2]) + 1)
        bottom = min(self._image.height, math.ceil(box[3]) + 1)
        if left >= right or top >= bottom:
            return
        tile = Image.new("RGBA", (right - left, bottom - top), _rgba(fill, 0.0))
        inside = (box[0] - left, box[1] - top, box[2] - left, box[3] - top)
        ImageDraw.Draw(tile).rounded_rectangle(inside, radius, _rgba(fill, opacity))
        self._image.alpha_composite(tile, (left, top))

    def _line(self, mark: Line) -> None:
        for x1, y1, x2, y2 in _dashes(mark):
            ends = [(x1 * self._zoom, y1 * self._zoom), (x2 * self._zoom, y2 * self._zoom)]
            self._stroke(ends, mark.stroke, mark.width, mark.opacity)

    def _polyline(self, mark: Polyline) -> None:
        points = [(x * self._zoom, y * self._zoom) for x, y in mark.points]
        if len(points) < 2:
            return
        if mark.fill is not None:
            if mark.opacity >= 1:
                self._draw.polygon(points, _rgba(mark.fill))
            else:
                sheet = Image.new("RGBA", self._image.size, _rgba(mark.fill, 0.0))
                ImageDraw.Draw(sheet).polygon(points, _rgba(mark.fill, mark.opacity))
                self._image.alpha_composite(sheet)
            points.append(points[0])
        if mark.stroke is not None:
            self._stroke(points, mark.stroke, mark.width, mark.opacity)

    def _stroke(self, points: list[tuple[float, float]], color: str, width: float, opacity: float) -> None:
        pixels = max(1, round(width * self._zoom))
        if opacity >= 1:
            self._draw.line(points, _rgba(color), pixels, joint="curve")
            return
        left = max(0, math.floor(min(x for x, _ in points)) - pixels)
        top = max(0, math.floor(min(y for _, y in points)) - pixels)
        right = min(self._image.width, math.ceil(max(x for x, _ in points)) + pixels)
        bottom = min(self._image.height, math.ceil(max(y for _, y in points)) + pixels)
        if left >= right or top >= bottom:
            return
        tile = Image.new("RGBA", (right - left, bottom - top), _rgba(color, 0.0))
        moved = [(x - left, y - top) for x, y in points]
        ImageDraw.Draw(tile).line(moved, _rgba(color, opacity), pixels, joint="curve")
        self._image.alpha_composite(tile, (left, top))

    def _text(self, mark: TextLine, shown: str) -> None:
        width = text_width(shown, mark.size, bold=mark.bold)
        left = {"start": 0.0, "middle": width / 2, "end": width}[mark.anchor]
        place = ((mark.x - left) * self._zoom, mark.y * self._zoom)
        letters = font(mark.size * self._zoom, bold=mark.bold)
        self._draw.text(place, drawable(shown), _rgba(mark.color), letters, anchor="ls")


def _dashes(mark: Line) -> Iterator[tuple[float, float, float, float]]:
    whole = math.hypot(mark.x2 - mark.x1, mark.y2 - mark.y1)
    if mark.dash is None or min(mark.dash) <= 0 or not whole:
        yield mark.x1, mark.y1, mark.x2, mark.y2
        return
    right, down, at = (mark.x2 - mark.x1) / whole, (mark.y2 - mark.y1) / whole, 0.0
    while at < whole:
        end = min(whole, at + mark.dash[0])
        yield mark.x1 + right * at, mark.y1 + down * at, mark.x1 + right * end, mark.y1 + down * end
        at += sum(mark.dash)


def _rgba(color: str, opacity: float = 1.0) -> Color:
    red, green, blue, *_ = ImageColor.getrgb(color)
    return red, green, blue, round(255 * opacity)
