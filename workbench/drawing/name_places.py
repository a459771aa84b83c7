"""Places of names beside points: none over another, and none beyond the edge of the plot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, product
from typing import NamedTuple

PLACES = (
    "middle right", "middle left", "top center", "bottom center",
    "top right", "bottom right", "top left", "bottom left",
)  # fmt: skip
NAMES_AT_ONCE = 3  # whose places are chosen together: 8³ ways
LINE_HEIGHT = 15.0  # pixels of a line of text
ACROSS, DOWN = {"left": -1, "center": 0, "right": 1}, {"top": -1, "middle": 0, "bottom": 1}


class NamedPoint(NamedTuple):
    """A point with a name, in pixels from the left and the top of the plot."""

    x: float
    y: float
    radius: float
    width: float  # of the name


def name_places(points: Sequence[NamedPoint], width: float, height: float) -> list[str]:
    """Return plotly's text position for each name, the first ones of PLACES where several are as good.

    A few names at a time find their places beside those that have theirs.
    """

    def faults(places: Iterable[str]) -> float:
        boxes = [box_of(point, place) for point, place in zip(points, places, strict=False)]
        beyond = sum(max(-x, 0) + max(x + w - width, 0) + max(-y, 0) + max(y + LINE_HEIGHT - height, 0)
                     for x, y, w in boxes)  # fmt: skip
        return beyond + sum(_shared(first, second) for first, second in combinations(boxes, 2))

    placed: list[str] = []
    for start in range(0, len(points), NAMES_AT_ONCE):
        choices = product(PLACES, repeat=len(points[start : start + NAMES_AT_ONCE]))
        placed += min(choices, key=lambda places: faults((*placed, *places)))
    return placed


def box_of(point: NamedPoint, place: str) -> tuple[float, float, float]:
    """Return the left edge, the top and the width of a name at that place."""
    down, across = place.split()
    x = point.x + ACROSS[across] * (point.radius + point.width / 2) - point.width / 2
    return x, point.y + DOWN[down] * (point.radius + LINE_HEIGHT / 2) - LINE_HEIGHT / 2, point.width


def _shared(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """Return the pixels of the width that two names share; 0 unless their lines meet."""
    (x, y, width), (other_x, other_y, other_width) = first, second
    if abs(y - other_y) >= LINE_HEIGHT:
        return 0.0
    return max(0.0, min(x + width, other_x + other_width) - max(x, other_x))
