"""Faster, slower, tie, outputs differ, or unknown: the conclusion from the pairs, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.judge.pairs import Pair
from workbench.judge.sequential import CONFIDENCE, MIN_PAIRS, Interval, interval, is_look
from workbench.records.comparison import Kind, OutputAgreement, Verdict
from workbench.text import shorten

NARROW_SHARE = 0.05  # of the effect: 2.00 times faster is reported as 1.90 to 2.10 or better


def judge(
    label: str,
    pairs: Sequence[Pair],
    agreement: Sequence[OutputAgreement],
    *,
    smallest_effect: float,
    final: bool,
    failure: str | None = None,
) -> Verdict:
    """The verdict on one candidate from its pairs so far. `final`: no more will be measured."""
    usable = [pair.log_ratio for pair in pairs if pair.log_ratio is not None]
    estimate = interval(usable) or interval([pair.log_ratio_all for pair in pairs])
    settled = final or is_look(len(usable))
    kind, reason = _conclude(label, usable, pairs, estimate, smallest_effect, failure)
    if differing := [row for row in agreement if row.label == label and row.agrees is False]:
        kind = "outputs differ"
        output, why = shorten(differing[0].output), differing[0].reason
        reason = f"{label}'s outputs differ from A's ({output}: {why})"
    return Verdict(
        label=label,
        kind=kind,
        ratio=math.exp(estimate.middle) if estimate else _single(pairs),
        low=math.exp(estimate.low) if estimate else None,
        high=math.exp(estimate.high) if estimate else None,
        confidence=CONFIDENCE,
        smallest_effect=smallest_effect,
        rounds=len(usable),
        provisional=not settled,
        reason=reason,
    )


def is_enough(verdict: Verdict, pairs: Sequence[Pair]) -> bool:
    """Whether measuring on would only confirm what is known: decided at a planned look, and narrow."""
    usable = [pair.log_ratio for pair in pairs if pair.log_ratio is not None]
    if not is_look(len(usable)):
        return False
    estimate = interval(usable)
    if estimate is None or kind_of(estimate, verdict.smallest_effect) == "unknown":
        return False
    return estimate.half_width <= max(verdict.smallest_effect, NARROW_SHARE * abs(estimate.middle))


def kind_of(estimate: Interval, smallest_effect: float) -> Kind:
    """Where the interval lies: beyond the smallest effect, within twice that, or neither."""
    effect = math.log1p(smallest_effect)
    if estimate.low > effect:
        return "faster"
    if estimate.high < -effect:
        return "slower"
    if -2 * effect < estimate.low and estimate.high < 2 * effect:
        return "tie"
    return "unknown"


def _conclude(
    label: str,
    usable: Sequence[float],
    pairs: Sequence[Pair],
    estimate: Interval | None,
    smallest_effect: float,
    failure: str | None,
) -> tuple[Kind, str]:
    if failure is not None:
        return "unknown", f"{label} could not be measured: {failure}"
    if len(usable) < MIN_PAIRS:
        disturbed = len(pairs) - len(usable)
        if disturbed:
            return "unknown", (
                f"{disturbed} of {len(pairs)} rounds were disturbed by other work on this machine "
                f"and set aside; "
                f"{MIN_PAIRS} undisturbed rounds are needed"
            )
        count = "1 round is" if len(usable) == 1 else f"{len(usable)} rounds are"
        return "unknown", f"{count} too few for an interval; {MIN_PAIRS} are needed"
    if estimate is None:
        return "unknown", "nothing was measured"
    kind = kind_of(estimate, smallest_effect)
    if kind == "unknown":
        return kind, (
            f"the interval of the ratio, {math.exp(estimate.low):.3f} to {math.exp(estimate.high):.3f}, "
            f"allows both an effect of {smallest_effect * 100:.1f} % and none: it needs more rounds "
            "or a quieter machine"
        )
    if kind == "tie":
        return kind, f"any difference is smaller than {2 * smallest_effect * 100:.1f} %"
    return (
        kind,
        f"the whole interval lies beyond the smallest effect of interest, {smallest_effect * 100:.1f} %",
    )


def _single(pairs: Sequence[Pair]) -> float | None:
    return math.exp(pairs[0].log_ratio_all) if pairs else None
