"""The exercises of the lesson on measuring."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import workbench as wb
from sample_models.drawn_pairs import saved_pairs
from workbench.apps.course.article import article_data
from workbench.apps.course.exercise import ANSWERS, exercise, wrong
from workbench.core.measure.sequential import interval
from workbench.core.text import one_line

_NEAR = 0.002
MOST_NARROW = 1 / 0.7  # times: more is no rounding, but pooled samples


@exercise("1.a")
def interval_of_pairs(answer: Any) -> str | None:
    """Check (ratio, low, high) of the saved pairs against Student's t over one number a pair."""
    try:
        ratio, low, high = (float(number) for number in answer)
    except (TypeError, ValueError, OverflowError):
        return wrong("1.a", "no three numbers")
    if not low < ratio < high:
        return wrong("1.a", "outside")
    log_ratios = [math.log(fmean(pair.a_ms) / fmean(pair.b_ms)) for pair in saved_pairs()]
    right = interval(log_ratios, error=0.05)
    assert right is not None
    right_ratio, right_low, right_high = map(math.exp, (right.middle, right.low, right.high))
    if max(abs(low - right_low), abs(high - right_high)) <= _NEAR:
        return None if abs(ratio - right_ratio) <= _NEAR else wrong("1.a", "ratio")
    narrow = (right_high - right_low) / (high - low)
    return wrong("1.a", "narrow" if narrow > MOST_NARROW else "width", times=narrow)


@exercise("1.b", answers=ANSWERS, budget_s=20.0, evidence="comparison")
def verdict_in_words(answer: str, *, comparison: wb.Comparison) -> str | None:
    """Check a verdict in words against that of the comparison."""
    kind = comparison.verdict.kind
    if kind not in ANSWERS:
        return None if answer == "not settled" else wrong("1.b", "not settled")
    return None if answer == kind else wrong("1.b", "excluded", answer=answer)


@exercise("1.c")
def contradictions(answer: Any) -> str | None:
    """Check two pairs of cells that contradict each other."""
    try:
        pairs = {frozenset(pair) for pair in answer}
    except TypeError:
        return wrong("1.c", "no list")
    cells = {name for table in article_data().tables.values() for name in table.cells()}
    for pair in pairs:
        if unknown := sorted(str(name) for name in pair if name not in cells):
            return wrong("1.c", "no cell", name=one_line(unknown[0], 80))
        if pair not in article_data().contradictions:
            return wrong("1.c", "no contradiction", names=" and ".join(sorted(pair)))
    return None if len(pairs) >= 2 else wrong("1.c", "too few")
