"""Choose fewer points where a screen cannot show all, with the same distribution."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

MOST_POINTS = 10_000  # of a figure: what plotly draws as SVG in about half a second

T = TypeVar("T")


def fair_shares(counts: Sequence[int], most: int = MOST_POINTS) -> tuple[int, ...]:
    """Return how many points of each run to keep: equal shares; small runs leave theirs to the others."""
    shares = [0] * len(counts)
    left = most
    for place, index in enumerate(sorted(range(len(counts)), key=lambda index: counts[index])):
        shares[index] = min(counts[index], left // (len(counts) - place))
        left -= shares[index]
    return tuple(shares)


def drawn_note(drawn: int, measured: int, what: str) -> str:
    """Return what a figure leaves out, or an empty text."""
    return "" if drawn == measured else f"{drawn:,} of {measured:,} {what} are drawn, evenly chosen"


def evenly(values: Sequence[T], count: int) -> tuple[T, ...]:
    """Return `count` of the values at even distances, the first and the last included.

    Of sorted values these are quantiles: the shape stays, and so do the extremes.
    """
    if count >= len(values):
        return tuple(values)
    if count < 2:
        return tuple(values[:count])
    return tuple(values[round(at * (len(values) - 1) / (count - 1))] for at in range(count))
