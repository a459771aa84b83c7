"""The conclusion from the pairs in one sentence: faster, slower, tie, outputs differ, or unknown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.bundle.comparison import Kind, OutputAgreement, Verdict
from workbench.core.bundle.run import Population
from workbench.core.measure.pairs import Clock, Pair
from workbench.core.measure.regime import BUSY, BUSY_TIE, MIN_ROUNDS, QUIET, Regime
from workbench.core.measure.sequential import (
    WIDEST,
    Interval,
    error_at,
    interval,
    is_look,
    rounds_to_reach,
    scatter_of,
    trimmed,
)
from workbench.core.text import shorten

NARROW_SHARE = 0.05  # share of the effect: 2.00 times faster is reported as 1.90 to 2.10 or better
LEAST_MARGIN_SHARE = 0.5  # share of the smallest effect: settling less would take too long
NO_DIFFERENCE = "no difference of"  # begins the reason while either sign is possible
NOISY_SCATTER = 0.025
"""The standard deviation of the rounds' log ratios above which the smallest effect gives no protection, so
that the parts of a busy machine are spent. Rounds far out are put to the last ones that count: they do not
move the trimmed mean, either. Simulated with rounds that are correlated by 0.3 from one to the next, equal
configs are then called different in at most 3 %, and in up to 9 % without.
"""
LONGEST_S = 600.0  # longer times are not advised
FAR_ROUNDS = 4  # as many rounds show a large effect whose size is open
FAR = math.log(1.5)
"""A round of equal configs is this far off on one side in at most a quarter of the cases: where two threads
share a core, in one round of five. All four rounds are in less than 1 %, simulated with bursts, stuck
processes and ratios of two humps (`tests/core/measure/test_error_rates.py`).
"""


@dataclass(frozen=True, slots=True)
class Criteria:
    """The criteria by which the rounds of a candidate are judged."""

    smallest_effect: float = 0.01
    population: Population = "undisturbed"
    clock: Clock = "wall"
    looks: tuple[int, ...] = ()  # rounds at which an earlier verdict was final
    round_s: float | None = None  # duration of another round; None: unknown

    @property
    def is_busy(self) -> bool:
        """Return whether the rounds are disturbed, so that the smallest effect gives no protection."""
        return self.population == "all" and self.clock == "wall"

    def is_noisy(self, ratios: Sequence[float]) -> bool:
        """Return whether only the interval prevents false claims: the rounds are disturbed, or scatter."""
        return self.is_busy or (len(ratios) > 1 and scatter_of(ratios, QUIET.trims[0]) > NOISY_SCATTER)

    def regime(self, ratios: Sequence[float]) -> Regime:
        """Return the rule whose interval counts: on a busy machine a tie needs less than a difference."""
        if not self.is_noisy(ratios):
            return QUIET
        tie = self._interval(ratios, BUSY_TIE)
        return BUSY if tie is None or kind_of(tie, self.smallest_effect) != "tie" else BUSY_TIE

    def interval(self, ratios: Sequence[float]) -> Interval | None:
        """Return the interval of these log ratios."""
        return self._interval(ratios, self.regime(ratios))

    def _interval(self, ratios: Sequence[float], regime: Regime) -> Interval | None:
        return interval(ratios, error=error_at(len(ratios), self.looks, regime), trims=regime.trims)

    def least(self, ratios: Sequence[float]) -> float | None:
        """Return the log ratio that the effect has at least where every round is far on one side.

        Half of that of the nearest round: this errs only if all rounds have more than twice the true one.
        """
        cut = trimmed(len(ratios), self.regime(ratios).trims[0])
        kept = sorted(ratios)[cut : len(ratios) - cut]
        if len(ratios) < FAR_ROUNDS or min(map(abs, kept)) < FAR or kept[0] * kept[-1] < 0:
            return None
        half = min(kept, key=abs) / 2
        return half if abs(half) > math.log1p(self.smallest_effect) else None

    def kind(self, ratios: Sequence[float]) -> Kind:
        """Return the kind for these rounds; a large effect is known before its size."""
        estimate = self.interval(ratios)
        if estimate is None or len(ratios) < MIN_ROUNDS:
            return "unknown"
        kind, least = kind_of(estimate, self.smallest_effect), self.least(ratios)
        return kind if kind != "unknown" or least is None else "faster" if least > 0 else "slower"

    def ratios(self, pairs: Sequence[Pair]) -> list[float]:
        """Return the log ratios that count."""
        log_ratios = (pair.of(self.population) for pair in pairs)
        return [log_ratio for log_ratio in log_ratios if log_ratio is not None]


def judge(
    label: str,
    pairs: Sequence[Pair],
    agreement: Sequence[OutputAgreement],
    criteria: Criteria,
    *,
    final: bool,
    failure: str | None = None,
) -> Verdict:
    """Return the verdict on one candidate from its pairs so far.

    `final`: measuring stops now. `failure`: why it was not measured, in a sentence.
    """
    ratios = criteria.ratios(pairs)
    estimate = criteria.interval(ratios)
    settled = final or is_look(len(ratios), criteria.looks)
    kind, reason = _conclude(ratios, estimate, criteria, failure)
    if differing := [row for row in agreement if row.label == label and row.agrees is False]:
        kind = "outputs differ"
        output, why = shorten(differing[0].output), differing[0].reason
        reason = f"{label}'s outputs differ from A's ({output}: {why})"
    ratio, low, high = _sizes(ratios, estimate, criteria, kind)
    return Verdict(
        label=label,
        kind=kind,
        ratio=ratio,
        low=low,
        high=high,
        confidence=criteria.regime(ratios).confidence,
        smallest_effect=criteria.smallest_effect,
        rounds=len(ratios),
        provisional=not settled,
        reason=reason,
        looks=criteria.looks,
        clock=criteria.clock,
    )


def is_enough(pairs: Sequence[Pair], criteria: Criteria, *, narrow: bool = True) -> bool:
    """Return whether more rounds would only confirm the verdict: decided at a planned look, and narrow.

    `narrow=False`: decided is enough.
    """
    ratios = criteria.ratios(pairs)
    if not is_look(len(ratios), criteria.looks):
        return False
    estimate = criteria.interval(ratios)
    if estimate is None or criteria.kind(ratios) == "unknown":
        return False
    most = max(criteria.smallest_effect, NARROW_SHARE * abs(estimate.middle))
    return not narrow or estimate.half_width <= most


def kind_of(estimate: Interval, smallest_effect: float) -> Kind:
    """Return the kind for the interval: beyond the smallest effect, within twice that, or neither."""
    effect = math.log1p(smallest_effect)
    if _is_absurd(estimate):
        return "unknown"
    if estimate.low > effect:
        return "faster"
    if estimate.high < -effect:
        return "slower"
    if -2 * effect < estimate.low and estimate.high < 2 * effect:
        return "tie"
    return "unknown"


def _conclude(
    ratios: Sequence[float],
    estimate: Interval | None,
    criteria: Criteria,
    failure: str | None,
) -> tuple[Kind, str]:
    if failure is not None:
        return "unknown", failure
    if estimate is None or len(ratios) < MIN_ROUNDS:
        rounds = "1 round is" if len(ratios) == 1 else f"{len(ratios)} rounds are"
        missing_s = (MIN_ROUNDS - len(ratios)) * (criteria.round_s or 0.0)
        more = f", about {max(1.0, missing_s):.0f} s more" if missing_s else ""
        return "unknown", f"{rounds} too few for an interval; {MIN_ROUNDS} are needed{more}"
    kind = criteria.kind(ratios)
    if kind != "unknown" and kind_of(estimate, criteria.smallest_effect) == "unknown":
        return kind, f"the {len(ratios)} rounds differ too much to say by how much more"
    if _is_absurd(estimate):
        return "unknown", (
            f"the {len(ratios)} rounds differ so much that an interval would span more than a hundredfold"
            f"{_more(ratios, criteria)}"
        )
    if kind == "unknown":
        return kind, f"{_excluded(estimate, criteria.smallest_effect)}{_more(ratios, criteria)}"
    if kind == "tie":
        return kind, f"any difference is smaller than {_percent(math.expm1(estimate.excluded))}"
    least = estimate.low if kind == "faster" else -estimate.high
    return kind, f"the difference is at least {_percent(math.expm1(least))}"


def _sizes(
    ratios: Sequence[float], estimate: Interval | None, criteria: Criteria, kind: Kind
) -> tuple[float | None, float | None, float | None]:
    """Return the ratio and the ends of its interval, or only the end that a large effect has at least."""
    if estimate is None:
        return (math.exp(ratios[0]) if ratios else None), None, None
    if kind in ("faster", "slower") and kind_of(estimate, criteria.smallest_effect) == "unknown":
        least = math.exp(criteria.least(ratios) or 0.0)
        return (None, least, None) if kind == "faster" else (None, None, least)
    if _is_absurd(estimate):
        return math.exp(estimate.middle), None, None
    return math.exp(estimate.middle), math.exp(estimate.low), math.exp(estimate.high)


def _excluded(estimate: Interval, smallest_effect: float) -> str:
    """Return what an undecided interval rules out, in words."""
    low, high = estimate.low, estimate.high
    most, least = _percent(math.expm1(estimate.excluded)), _percent(smallest_effect)
    if high < 0:
        ends = f"({math.exp(-high):.3f} to {math.exp(-low):.3f})"  # as the factor of "slower"
        return f"slower by at most {most} {ends}, maybe by less than {least}"
    ends = f"({math.exp(low):.3f} to {math.exp(high):.3f})"
    if low > 0:
        return f"faster by at most {most} {ends}, maybe by less than {least}"
    return f"{NO_DIFFERENCE} {most} or more {ends}"


def _more(ratios: Sequence[float], criteria: Criteria) -> str:
    """Return the time needed to settle the smallest effect, from the scatter so far, in words."""
    estimate = criteria.interval(ratios)
    if estimate is None or criteria.round_s is None:
        return ""
    effect = math.log1p(criteria.smallest_effect)
    distance = abs(estimate.middle) if estimate.low > 0 or estimate.high < 0 else 0.0
    margin = max(2 * effect - distance, distance - effect, LEAST_MARGIN_SHARE * effect)
    regime = BUSY_TIE if distance == 0.0 and criteria.is_noisy(ratios) else criteria.regime(ratios)
    needed = rounds_to_reach(margin, ratios, criteria.looks, regime)
    percent = _percent(criteria.smallest_effect)
    if needed is None or (needed - len(ratios)) * criteria.round_s > LONGEST_S:
        return f"; more than {LONGEST_S / 60:.0f} minutes would be needed to settle {percent}"
    seconds = max(1.0, float(f"{(needed - len(ratios)) * criteria.round_s:.1g}"))
    return f"; about {seconds:.0f} s more would settle {percent}"


def _is_absurd(estimate: Interval) -> bool:
    return estimate.high - estimate.low > WIDEST


def _percent(share: float) -> str:
    """Return 0.026 as 2.6 %, and more than double as a factor."""
    return f"{share * 100:.1f} %" if share < 1 else f"{share + 1:.1f} times"
