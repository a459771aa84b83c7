"""An interval that may be looked at while it is still being measured.

One number for each pair of processes, Student's t over the pairs, and a part of the 5 % error spent at each
planned look. The parts come from a simulation (`total_error` repeats it): whatever look is the last, the
chance that the interval ever missed the truth stays at or below 5 %.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

CONFIDENCE = 0.95
SPENT_AT: dict[int, float] = {
    3: 0.002,
    5: 0.005,
    8: 0.013,
    12: 0.018,
    18: 0.018,
    27: 0.006,
    40: 0.004,
    60: 0.002,
}
MIN_PAIRS = min(SPENT_AT)


@dataclass(frozen=True, slots=True)
class Interval:
    """On the scale of log(A's time / B's time)."""

    middle: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2


def interval(log_ratios: Sequence[float], *, error: float | None = None) -> Interval | None:
    """Return Student's t interval; `error` defaults to what this number of pairs may spend."""
    pairs = len(log_ratios)
    if pairs < 2:
        return None
    spent = error_at(pairs) if error is None else error
    middle = fmean(log_ratios)
    half = student_t(1 - spent / 2, pairs - 1) * stdev(log_ratios) / math.sqrt(pairs)
    return Interval(middle, middle - half, middle + half)


def error_at(pairs: int) -> float:
    """Return the error that a look at this many pairs may spend: that of the next planned look."""
    return next((error for look, error in SPENT_AT.items() if pairs <= look), min(SPENT_AT.values()))


def is_look(pairs: int) -> bool:
    """Return whether a decision may be taken at this many pairs although measuring goes on."""
    return pairs in SPENT_AT


def student_t(probability: float, degrees: int) -> float:
    from scipy.special import stdtrit  # 0.1 s to import, and only judged results need it

    return float(stdtrit(degrees, probability))


def total_error(last: int, *, repeats: int, seed: int = 0) -> float:
    """Return the simulated chance that any interval up to the look at `last` pairs misses the truth."""
    import numpy as np

    values = np.random.default_rng(seed).standard_normal((repeats, last))
    missed = np.zeros(repeats, dtype=bool)
    for pairs in [look for look in SPENT_AT if look < last] + [last]:
        values_so_far = values[:, :pairs]
        half = (
            student_t(1 - error_at(pairs) / 2, pairs - 1)
            * values_so_far.std(axis=1, ddof=1)
            / math.sqrt(pairs)
        )
        missed |= np.abs(values_so_far.mean(axis=1)) > half
    return float(missed.mean())
