"""Whether a fix is kept: it must be faster or mend a limit, break none, and keep the accuracy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.text import factor, factor_ends
from workbench.features.accuracy.acceptance import Check, outputs_beyond
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.compare.best import file_bytes
from workbench.features.compare.result import Comparison
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.record import FindingRecord
from workbench.features.improve.record import ImprovementStep
from workbench.features.tune.objectives import limit_checks


@dataclass(frozen=True, slots=True)
class Kept:
    """The checks of all limits of one measured config."""

    checks: tuple[Check, ...]

    @classmethod
    def of(cls, limits: Goal, record: ComparisonRecord, run: Run) -> Kept:
        """Check each limit on what was measured of a run; accuracy and error are checked beside it."""
        checks = limit_checks(limits, run, file_bytes(record, run), {})
        return cls(tuple(limit.check for limit in checks))

    def named(self, passed: bool | None) -> dict[str, str]:
        """Return the reason of each limit that is kept (True), broken (False) or not settled (None)."""
        return {check.what: check.reason for check in self.checks if check.passed is passed}

    def words(self, passed: bool | None) -> str:
        """Return these reasons as one text; empty where there is none."""
        return "; ".join(self.named(passed).values())

    @property
    def is_sure(self) -> bool:
        """Return whether every limit is kept for sure."""
        return all(check.passed for check in self.checks)


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
    lost = outputs_beyond(evaluate(result.config), "B", limits)
    return _refused(result, lost) if lost else result


def _refused(result: FixResult, reason: str) -> FixResult:
    config = result.comparison.runs[0].config
    return FixResult(result.finding, False, f"{result.reason}; {reason}", config, result.comparison)


@dataclass(frozen=True, slots=True)
class Proof:
    """A config that was measured better than the first one. `fixes`: how many of the kept ones it has."""

    config: Config
    comparison: Comparison
    fixes: int


def why_unproven(contradicted: str, comparison: Comparison, limits: Goal, first: Kept | None) -> str:
    """Return why the last config is not the answer after it was measured again, or nothing.

    `first`: the limits of the first config, as far as it was measured.
    """
    after = comparison.runs[1]
    if contradicted:
        return (
            f"Two measurements contradict each other, so no fix is kept: {contradicted}. The machine "
            "changed in between; improve again when it is quiet."
        )
    if after.failure is not None:
        worse = f"it could not be run: {after.failure.problem}"
    elif comparison.verdict.kind == "outputs differ":
        worse = str(comparison).splitlines()[0]
    elif beyond := beyond_limits(comparison, limits, first):
        return f"It is not the answer: {beyond}."
    elif comparison.verdict.kind == "slower" and not _broken(first):
        worse = str(comparison).splitlines()[0]
    else:
        return ""
    return f"Measured anew, all kept fixes together are no gain, so none is kept: {worse}"


def beyond_limits(comparison: Comparison, limits: Goal, first: Kept | None) -> str:
    """Return the limits that the second config breaks, or may break where the first one keeps all."""
    record = comparison.record
    kept = Kept.of(limits, record, record.runs[1])
    if broken := kept.words(False):
        return f"it breaks a limit: {broken}"
    unsettled = kept.words(None)
    if unsettled and first is not None and first.is_sure:
        return f"whether it keeps the limits is not settled: {unsettled}"
    return ""


def proven_steps(steps: Iterable[ImprovementStep], proof: Proof | None) -> Iterator[ImprovementStep]:
    """Yield the steps; a kept fix that is not in the proven config is not kept."""
    room = 0 if proof is None else proof.fixes
    for step in steps:
        if step.kept and not room:
            yield replace(step, kept=False, reason=f"{step.reason}; it is not proven with the others")
        else:
            yield step
            room -= step.kept


def limits_in_words(limits: Goal, proof: Proof | None, first: Kept | None) -> str:
    """Return what is to say about the limits and the answer."""
    broken = _broken(first)
    if proof is None:
        tried = "No config that was tried keeps the limits; the first one does not"
        return f"{tried}: {broken}." if broken else ""
    record, verdict = proof.comparison.record, proof.comparison.verdict
    texts = []
    if broken:
        texts.append(f"The first config breaks a limit: {broken}.")
    if unsettled := Kept.of(limits, record, record.runs[1]).words(None):
        texts.append(f"Whether it keeps the limits is not settled: {unsettled}.")
    if limits.min_speedup is not None and (verdict.bound or 1.0) < limits.min_speedup:
        texts.append(_unreached(limits.min_speedup, verdict))
    return " ".join(texts)


def _unreached(wanted: float, verdict: Verdict) -> str:
    """Return that a required speed-up is not reached, or not for sure where its size is open."""
    if verdict.bound is None:
        return f"Whether the goal of {wanted:.2f}× is reached is not known: {verdict.reason}."
    reached = factor(verdict.bound, verdict.low, verdict.high)
    if verdict.is_open_to(wanted):
        return f"Whether the goal of {wanted:.2f}× is reached is open: it is {reached}."
    ends = factor_ends(verdict.low, verdict.high)
    return f"The goal of {wanted:.2f}× is not reached: it is {reached}{ends}."


def _broken(first: Kept | None) -> str:
    """Return the limits that the first config breaks for sure."""
    return "" if first is None else first.words(False)
