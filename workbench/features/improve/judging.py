"""Whether a fix is kept: it must be faster or mend a limit, break none, and keep the accuracy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.record import FindingRecord
from workbench.features.grid.acceptance import Budget, accuracy_checks
from workbench.features.improve.limits import Kept

LEAST_RATIO = 0.95  # of a fix for memory, load or accuracy whose effect on the time is not settled
Evaluate = Callable[[Config], AccuracyRecord]  # sets a config beside the first one, so that drops add up


def judged(result: FixResult, evaluate: Evaluate, limits: Goal) -> FixResult:
    """Return the result as this improvement takes it."""
    return with_accuracy(within(in_time(result), limits), evaluate, limits)


def changes_arithmetic(record: FindingRecord, config: Config) -> bool:
    """Return whether the fix computes in other numbers than the config."""
    return record.fix.config is not None and record.fix.config.precision != config.precision


def in_time(result: FixResult) -> FixResult:
    """Return the result, not kept where a fix for memory, load or accuracy may cost time."""
    verdict = result.comparison.verdict
    if not result.kept or verdict.kind in ("faster", "tie"):
        return result
    if verdict.kind == "unknown" and verdict.low is not None and verdict.low >= LEAST_RATIO:
        return result
    return _refused(result, "it may be slower, and nothing slower is kept here")


def within(result: FixResult, limits: Goal) -> FixResult:
    """Return the result, not kept where it breaks a limit that held before, kept where it mends one."""
    record = result.comparison.record
    first, second = record.runs[:2]
    if second.failure is not None or result.comparison.verdict.kind == "outputs differ":
        return result
    before, after = (Kept.of(limits, record, run) for run in (first, second))
    broken_before, broken = before.named(False), after.named(False)
    if new := [reason for what, reason in broken.items() if what not in broken_before]:
        return _refused(result, f"it breaks a limit: {'; '.join(new)}")
    mended = [reason for what, reason in after.named(True).items() if what in broken_before]
    if mended and not result.kept and result.finding.fix.config is not None:
        reason = f"{result.reason}; it mends a limit: {'; '.join(mended)}"
        return replace(result, kept=True, reason=reason, config=result.finding.fix.config)
    return result


def with_accuracy(result: FixResult, evaluate: Evaluate, limits: Goal) -> FixResult:
    """Return the result, not kept where accuracy or error are not known to hold."""
    before = result.comparison.runs[0].config
    if not result.kept or not changes_arithmetic(result.finding, before):
        return result
    lost = outputs_beyond(evaluate(result.config), limits)
    return _refused(result, lost) if lost else result


def outputs_beyond(record: AccuracyRecord, limits: Goal) -> str:
    """Return how accuracy or error of B break their limits, or are not known to keep them; else nothing."""
    budget = Budget(max_error=limits.max_error, max_drop=limits.max_accuracy_drop)
    return "; ".join(
        check.reason for check in accuracy_checks(record, "B", budget) if check.passed is not True
    )


def _refused(result: FixResult, reason: str) -> FixResult:
    config = result.comparison.runs[0].config
    return FixResult(result.finding, False, f"{result.reason}; {reason}", config, result.comparison)
