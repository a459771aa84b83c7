"""Colours that mean different things stay apart for eyes without one kind of cone."""

from __future__ import annotations

from itertools import pairwise
from math import dist

import pytest

from workbench.drawing.chart import run_look
from workbench.drawing.palette import GAIN, LOSS

Triple = tuple[float, float, float]
Matrix = tuple[Triple, Triple, Triple]

# Viénot, Brettel and Mollon (1999) in linear sRGB: the plane of colours that are left without one cone.
EYES: dict[str, Matrix] = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.10889, 0.89111, 0), (0.10889, 0.89111, 0), (0.00447, -0.00447, 1)),
    "deuteranopia": ((0.29031, 0.70969, 0), (0.29031, 0.70969, 0), (-0.02197, 0.02197, 1)),
}
TO_XYZ: Matrix = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE_XYZ: Triple = (0.9505, 1.0, 1.089)  # D65
LEAST = 15.0  # in CIE Lab: 2.3 is just seen side by side; the red and green below are 8 apart, and confused
RED, GREEN = "#d62728", "#2ca02c"


def linear(color: str) -> Triple:
    """Return the linear sRGB of `#rrggbb`."""
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return _linear(red), _linear(green), _linear(blue)


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def times(matrix: Matrix, vector: Triple) -> Triple:
    x, y, z = (sum(factor * part for factor, part in zip(row, vector, strict=True)) for row in matrix)
    return x, y, z


def lab(color: str, eyes: str) -> Triple:
    """Return a colour as these eyes see it, in CIE Lab."""
    perceived = times(EYES[eyes], linear(color))
    xyz = times(TO_XYZ, tuple(min(1.0, max(0.0, part)) for part in perceived))  # type: ignore[arg-type]
    x, y, z = (_root(part / white) for part, white in zip(xyz, WHITE_XYZ, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(share: float) -> float:
    return share ** (1 / 3) if share > (6 / 29) ** 3 else share / (3 * (6 / 29) ** 2) + 4 / 29


def distance(color: str, other: str, eyes: str) -> float:
    return dist(lab(color, eyes), lab(other, eyes))


@pytest.mark.parametrize("eyes", EYES)
def test_gain_and_loss_are_told_apart(eyes: str) -> None:
    assert distance(GAIN, LOSS, eyes) >= LEAST


@pytest.mark.parametrize("eyes", EYES)
def test_neighbouring_runs_are_told_apart(eyes: str) -> None:
    colors = [run_look(index).color for index in range(20)]
    assert [pair for pair in pairwise(colors) if distance(*pair, eyes) < LEAST] == []
    assert distance(colors[0], colors[1], eyes) > 4 * LEAST, "A and B, which most figures show"


def test_the_simulation_confuses_red_and_green_and_keeps_greys() -> None:
    assert distance(RED, GREEN, "usual") > 100
    assert distance(RED, GREEN, "deuteranopia") < LEAST
    for eyes in EYES:
        for grey in ("#000000", "#808080", "#ffffff"):
            assert lab(grey, eyes) == pytest.approx(lab(grey, "usual"), abs=0.1)
