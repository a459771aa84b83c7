"""Whether what was measured again can be what was measured before."""

from __future__ import annotations

import math
from collections.abc import Sequence

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.measure.pairs import pairs_of
from workbench.core.measure.verdict import Criteria, judge
from workbench.core.text import bounded, factor, factor_ends

Ends = tuple[float | None, float | None, float | None]  # a speed-up and the ends of its interval


def verdict_after(record: ComparisonRecord, last_round: int) -> Verdict:
    """Return the verdict on B of the rounds after this one alone."""
    first, second = record.runs[:2]
    criteria = Criteria(record.protocol.smallest_effect, second.population)
    later = [pair for pair in pairs_of(first, second) if pair.round > last_round]
    return judge(second.label, later, record.agreement, criteria, final=True)


def contradiction(gains: Sequence[Ends], again: Verdict) -> str:
    """Return in words that the gain of several fixes did not show again; empty where it may have.

    Gains multiply, and the widths of their intervals add up as those of independent measurements do.
    """
    known = [  # a large effect whose size is open counts as the least that it has
        (ratio, low, high) if ratio and low and high else (low, low, low)
        for ratio, low, high in gains
        if low and (high or not ratio)
    ]
    if len(known) < len(gains) or again.high is None:
        return ""
    middle = sum(math.log(ratio) for ratio, _, _ in known)
    half = math.hypot(*(math.log(high / low) / 2 for _, low, high in known))
    if again.kind == "faster" or math.log(again.high) >= middle - half:
        return ""
    ratio, low, high = (math.exp(end) for end in (middle, middle - half, middle + half))
    is_open = any(end is None for _, _, end in gains)
    first = bounded(low, None) if is_open else factor(ratio, low, high) + factor_ends(low, high)
    second = bounded(again.low, again.high)
    if again.ratio is not None:
        second = factor(again.ratio, again.low, again.high) + factor_ends(again.low, again.high)
    return f"{first} at first, and {second} when it was measured again"
