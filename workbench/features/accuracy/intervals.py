"""Intervals of means over items: Wilson for shares, Tango for paired shares, the bootstrap for the rest."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from workbench.core.text import counted
from workbench.features.accuracy.record import Mean, Paired

Values: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Figure: TypeAlias = Callable[[Any], Values]  # of rows of positions

Z = 1.959963984540054  # of 95 %
RESAMPLES = 2_000
MIN_ITEMS = 8  # fewer resampled items say little
_MOST_DRAWS = 4_000_000  # numbers held at once


def mean(values: Values) -> Mean:
    """Return the mean of one number per item; the interval of 0 and 1 by Wilson, else by resampling items."""
    values = np.asarray(values, np.float64)
    count = len(values)
    if count == 0:
        raise ValueError("no items")
    middle = float(values.mean())
    if is_share(values):
        low, high = wilson(int(values.sum()), count)
        return Mean(middle, low, high, count, "Wilson")
    return resampled(middle, count, lambda picked: values[picked].mean(axis=-1))


def resampled(value: float, count: int, figure: Figure) -> Mean:
    """Return a figure with its interval over resampled items, where there are enough of them."""
    if count < MIN_ITEMS:
        return Mean(value, None, None, count, f"no interval from {counted(count, 'item')}")
    return Mean(value, *bootstrap(count, figure), count, "bootstrap over items")


def paired(first: Values, second: Values) -> Paired:
    """Return the mean of `second` minus `first`, item by item."""
    first, second = np.asarray(first, np.float64), np.asarray(second, np.float64)
    count = len(first)
    if count == 0 or count != len(second):
        raise ValueError("paired scores need the same items")
    gap = float((second - first).mean())
    if is_share(first) and is_share(second):
        gained, lost = int((second > first).sum()), int((second < first).sum())
        low, high = tango(gained, lost, count)
        return Paired(gap, low, high, gained, lost, mcnemar(gained, lost), "Tango's score interval")
    differences = second - first
    return resampled_gap(gap, count, lambda picked: differences[picked].mean(axis=-1))


def resampled_gap(gap: float, count: int, figure: Figure) -> Paired:
    """Return a paired difference with its interval over resampled items, where there are enough of them."""
    if count < MIN_ITEMS:
        return Paired(gap, None, None, None, None, None, f"no interval from {counted(count, 'item')}")
    return Paired(gap, *bootstrap(count, figure), None, None, None, "paired bootstrap over items")


def is_share(values: Values) -> bool:
    """Return whether all values are 0 or 1: wrong or right."""
    return bool(np.isin(values, (0.0, 1.0)).all())


def wilson(right: int, count: int) -> tuple[float, float]:
    """Return the interval of a share (Wilson 1927): within 0 to 1, and not empty at the ends."""
    share = right / count
    spread = Z * math.sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    middle, size = share + Z * Z / (2 * count), 1 + Z * Z / count
    low, high = (middle - spread) / size, (middle + spread) / size
    return (0.0 if right == 0 else max(0.0, low)), (1.0 if right == count else min(1.0, high))


def tango(gained: int, lost: int, count: int) -> tuple[float, float]:
    """Return the interval of the difference of paired shares (Tango 1998), by inverting the score test.

    Where no item changed the interval is not empty: 360 items that agree leave 1.1 points each way.
    """

    def score(gap: float) -> float:
        a = 2 * count
        b = -gained - lost + (2 * count - gained + lost) * gap
        c = -lost * gap * (1 - gap)
        share = (math.sqrt(max(0.0, b * b - 4 * a * c)) - b) / (2 * a)
        variance = count * (2 * share + gap * (1 - gap))
        distance = gained - lost - count * gap
        if distance == 0:
            return 0.0
        return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)

    middle = (gained - lost) / count
    low = _root(lambda gap: score(gap) - Z, -1.0, middle)
    high = _root(lambda gap: score(gap) + Z, middle, 1.0)
    return low, high


def mcnemar(gained: int, lost: int) -> float:
    """Return the probability of a split at least as uneven, if gains and losses were equally likely."""
    changed = gained + lost
    if changed == 0:
        return 1.0
    tail: int = sum(math.comb(changed, k) for k in range(min(gained, lost) + 1))
    return min(1.0, float(tail / 2 ** (changed - 1)))


def bootstrap(count: int, figure: Figure) -> tuple[float, float]:
    """Return percentiles of a figure over resampled items. `figure` gets rows of positions."""
    rng = np.random.default_rng(0)  # the same data give the same interval
    figures, left = [], RESAMPLES
    while left:
        rows = min(left, max(1, _MOST_DRAWS // count))
        figures.append(np.asarray(figure(rng.integers(count, size=(rows, count))), np.float64))
        left -= rows
    low, high = np.percentile(np.concatenate(figures), (2.5, 97.5))
    return float(low), float(high)


def _root(falling: Callable[[float], float], low: float, high: float) -> float:
    """Return where a falling function crosses zero; an end, where it does not."""
    if falling(low) <= 0:
        return low
    if falling(high) >= 0:
        return high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
