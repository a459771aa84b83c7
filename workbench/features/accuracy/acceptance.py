"""The acceptance of a config: it must be measured faster and within every limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from workbench.core.bundle.comparison import Verdict
from workbench.core.bundle.goal import Goal
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import factor, factor_ends
from workbench.features.accuracy.record import AccuracyRecord


@dataclass(frozen=True, slots=True)
class Check:
    """One condition. `passed` is None if unknown, which does not pass."""

    what: str
    passed: bool | None
    reason: str


def checks(verdict: Verdict, accuracy: AccuracyRecord, label: str, limits: Goal) -> tuple[Check, ...]:
    """Check the speed, which includes output agreement, then error and accuracy if required."""
    limits.check()
    least = 1.0 if limits.min_speedup is None else limits.min_speedup
    return (speed(verdict, least), *_accuracy_checks(accuracy, label, limits))


def outputs_beyond(accuracy: AccuracyRecord, label: str, limits: Goal) -> str:
    """Return how accuracy or error break their limits, or are not known to keep them; else nothing."""
    failed = (check for check in _accuracy_checks(accuracy, label, limits) if check.passed is not True)
    return "; ".join(check.reason for check in failed)


def _accuracy_checks(accuracy: AccuracyRecord, label: str, limits: Goal) -> Iterator[Check]:
    if limits.max_error is not None:
        yield _error(accuracy, label, limits.max_error)
    if limits.max_accuracy_drop is not None:
        yield drop_check(accuracy, label, limits.max_accuracy_drop)


def speed(verdict: Verdict, least: float) -> Check:
    """Check that the whole interval lies beyond the minimum speed-up."""
    if verdict.kind == "outputs differ":
        return Check("outputs", False, verdict.reason)
    if speed_in_words(verdict) and verdict.ratio is None:
        passed = None if verdict.kind == "faster" else False
        if verdict.low is not None and verdict.low >= least:
            passed = True
        return Check("speed", passed, f"{speed_in_words(verdict)}; {least:g} times was asked for")
    if verdict.low is None or verdict.high is None or verdict.ratio is None:
        return Check("speed", None, f"the speed-up is not known: {verdict.reason}")
    ends = verdict.low, verdict.high
    measured = factor(verdict.ratio, *ends) + " as fast" + factor_ends(*ends)
    if verdict.kind == "unknown":
        return Check("speed", None, f"the speed-up is not settled: {verdict.reason}")
    if verdict.kind != "faster":
        return Check("speed", False, f"{measured}: {verdict.kind}")
    if verdict.low < least:
        passed = None if verdict.high >= least else False
        return Check("speed", passed, f"{measured}; {least:g} times was asked for")
    return Check("speed", True, measured)


def _error(accuracy: AccuracyRecord, label: str, most: float) -> Check:
    error = accuracy.error(label)
    if error is None:
        return Check("error", None, "the error is not known: nothing could be compared")
    if math.isinf(error):
        return Check("error", False, "the error has no end: NaN, Inf or another shape")
    return Check(
        "error",
        error <= most,
        f"the error is {error * 100:.2f} % of the output, at most {most * 100:.2f} % asked for",
    )


def drop_check(accuracy: AccuracyRecord, label: str, most: float) -> Check:
    """Check the change of the accuracy on the same items, by its interval."""
    score = accuracy.score(label)
    if score is None or score.against is None:
        why = score.problem if score is not None and score.problem else "there are no labels"
        return Check("accuracy", None, f"the accuracy is not known: {why}")
    gap = score.against
    measured = f"accuracy changes by {gap.value * 100:+.2f} points"
    if gap.low is not None and gap.high is not None:
        measured += f" ({gap.low * 100:+.2f} to {gap.high * 100:+.2f})"
    measured += f", at most {most * 100:.2f} may be lost"
    passed = gap.within(most)
    if passed is None:
        measured += f"; {accuracy.data.item_count:,} items do not settle it"
    return Check("accuracy", passed, measured)
