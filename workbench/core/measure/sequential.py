"""An interval that stays valid when checked repeatedly during measuring, also after a final verdict.

One number per round, Student's t over the rounds (Yuen's where some are trimmed), and a part of the 5 % error
spent at each planned look. Where two trims are tried, each spends half of the part, and the narrower interval
counts.
The parts come from a simulation of independent normal rounds (`total_error` repeats it): whichever look is
the last, the chance that the interval ever missed the truth is 5.2 % at most. They sum to 6.1 %, more than
that, since a look that misses shares its rounds with others that miss. Heavy tails spend less; rounds that
are correlated from one to the next spend more, and docs/measuring-evidence.md says what verdicts then claim.
A final look between two planned ones spends the part of the next; measuring on from there skips that one.
The parts of a difference on a busy machine are smaller, 1 % over all looks: see `regime.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import fmean

from workbench.core.measure.regime import LOOKS, QUIET, Regime

MANY_ROUNDS = 12  # of fewer rounds, trimming more than a sixth costs more certainty than outliers do
SPLIT_ROUNDS = 18  # of fewer rounds only the first trim is tried: half of the error costs more than it gains
REPEATED = 0.0003  # error of a look whose part a final look has already spent
WIDEST = math.log(100.0)  # beyond a hundredfold an interval says nothing


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of log(A's time / B's time)."""

    middle: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        return (self.high - self.low) / 2

    @property
    def excluded(self) -> float:
        """Return the smallest log ratio, in either direction, that the interval excludes."""
        return max(self.high, -self.low)


def interval(
    log_ratios: Sequence[float], *, error: float, trims: Sequence[float] = (0.0,)
) -> Interval | None:
    """Return Student's t interval; of trimmed rounds Yuen's, the narrowest of those that are tried."""
    rounds = len(log_ratios)
    if rounds < 2:
        return None
    ordered, estimates = sorted(log_ratios), []
    for trim, part in _tried(trims, rounds, error):
        cut = trimmed(rounds, trim)
        kept = ordered[cut : rounds - cut]
        middle, half = fmean(kept), _half_width(_scatter(kept, cut), rounds, cut, part)
        estimates.append(Interval(middle, middle - half, middle + half))
    return min(estimates, key=lambda estimate: estimate.half_width)


def _tried(trims: Sequence[float], rounds: int, error: float) -> list[tuple[float, float]]:
    """Return each trim that is tried of this many rounds, and the error that its interval may spend."""
    tried = trims if rounds >= SPLIT_ROUNDS else trims[:1]
    return [(trim, error / len(tried)) for trim in tried]


def trimmed(rounds: int, trim: float) -> int:
    """Return how many rounds at either end do not count: of a few rounds at most a sixth."""
    cut = int(trim * rounds)
    return cut if rounds >= MANY_ROUNDS else min(cut, rounds // 6)


def scatter_of(log_ratios: Sequence[float], trim: float) -> float:
    """Return the standard deviation of the rounds; those far out are put to the last ones that count."""
    cut = trimmed(len(log_ratios), trim)
    return _scatter(sorted(log_ratios)[cut : len(log_ratios) - cut], cut)


def _scatter(kept: Sequence[float], cut: int) -> float:
    """Return the standard deviation with the ends that do not count put to the last ones that do."""
    above = [ratio - kept[0] for ratio in (*[kept[0]] * cut, *kept, *[kept[-1]] * cut)]  # exactly 0 if equal
    mean = fmean(above)
    return math.sqrt(math.fsum((value - mean) * (value - mean) for value in above) / (len(above) - 1))


def _half_width(scatter: float, rounds: int, cut: int, error: float) -> float:
    counted = rounds - 2 * cut
    return student_t(1 - error / 2, counted - 1) * scatter * math.sqrt(rounds) / counted


def error_at(rounds: int, looks: Sequence[int] = (), regime: Regime = QUIET) -> float:
    """Return the error that a look after this many rounds may spend: the part of the next planned look.

    `looks` are the rounds at which an earlier verdict was final.
    """
    planned = planned_look(rounds)
    part = regime.spent_at[planned]
    return min(REPEATED, part) if _is_spent(planned, rounds, looks) else part


def is_look(rounds: int, looks: Sequence[int] = ()) -> bool:
    """Return whether a verdict may be final after this many rounds although measuring continues."""
    return rounds in LOOKS and not _is_spent(rounds, rounds, looks)


def _is_spent(planned: int, rounds: int, looks: Sequence[int]) -> bool:
    """Return whether an earlier final look has spent the part of this planned look."""
    return any(planned_look(look) == planned and look < rounds for look in looks)


def planned_look(rounds: int) -> int:
    """Return the planned look at or after this many rounds, or the last one."""
    return next((look for look in LOOKS if rounds <= look), max(LOOKS))


def rounds_to_reach(
    half_width: float,
    log_ratios: Sequence[float],
    looks: Sequence[int] = (),
    regime: Regime = QUIET,
) -> int | None:
    """Return the planned look at which this scatter gives an interval this narrow, or None."""
    if len(log_ratios) < 2:
        return None
    scatters = {trim: scatter_of(log_ratios, trim) for trim in regime.trims}
    for rounds in LOOKS:
        if rounds <= len(log_ratios) or not is_look(rounds, (*looks, len(log_ratios))):
            continue
        halves = (
            _half_width(scatters[trim], rounds, trimmed(rounds, trim), part)
            for trim, part in _tried(regime.trims, rounds, regime.spent_at[rounds])
        )
        if min(halves) <= half_width:
            return rounds
    return None


@lru_cache(maxsize=4096)  # a search asks for the same quantiles again and again
def student_t(probability: float, degrees: int) -> float:
    """Return the quantile of Student's distribution at a probability of at least a half."""
    low, high = 0.0, 1.0
    while _within(high, degrees) < 2 * probability - 1:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        if _within(middle, degrees) < 2 * probability - 1:
            low = middle
        else:
            high = middle
    return high


def _within(t: float, degrees: int) -> float:
    """Return the chance of -t to t: for whole degrees a finite sum (Abramowitz and Stegun 26.7.3, 26.7.4)."""
    angle = math.atan2(t, math.sqrt(degrees))
    odd = degrees % 2
    term = total = 1.0
    for k in range(1, (degrees - odd) // 2):
        term *= math.cos(angle) ** 2 * (2 * k if odd else 2 * k - 1) / (2 * k + 1 if odd else 2 * k)
        total += term
    if not odd:
        return math.sin(angle) * total
    if degrees == 1:
        return 2 * angle / math.pi
    return 2 / math.pi * (angle + math.sin(angle) * math.cos(angle) * total)


def total_error(finals: Sequence[int], regime: Regime = QUIET, *, repeats: int, seed: int = 0) -> float:
    """Return the simulated chance that any interval misses the truth.

    `finals` are the rounds at which a verdict was final; measuring continued after all but the last.
    """
    import numpy as np

    values = np.random.default_rng(seed).standard_normal((repeats, finals[-1]))
    missed = np.zeros(repeats, dtype=bool)
    for rounds in range(2, finals[-1] + 1):
        looks = tuple(final for final in finals if final < rounds)
        if rounds not in finals and not is_look(rounds, looks):
            continue
        ordered = np.sort(values[:, :rounds], axis=1)
        halves, middles = [], []
        for trim, part in _tried(regime.trims, rounds, error_at(rounds, looks, regime)):
            cut = trimmed(rounds, trim)
            kept = ordered[:, cut : rounds - cut]
            scatter = np.pad(kept, ((0, 0), (cut, cut)), mode="edge").std(axis=1, ddof=1)
            halves.append(_half_width(1.0, rounds, cut, part) * scatter)
            middles.append(kept.mean(axis=1))
        narrowest = np.argmin(halves, axis=0), np.arange(repeats)
        missed |= np.abs(np.array(middles)[narrowest]) > np.array(halves)[narrowest]
    return float(missed.mean())
