"""Whether a config is proven better than the first one within limits, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.features.compare.result import Comparison
from workbench.features.improve.limits import Kept
from workbench.features.improve.record import ImprovementStep


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
        texts.append(
            f"The goal of {limits.min_speedup:.2f}× is not reached: it is {verdict.bound or 1.0:.2f}×."
        )
    return " ".join(texts)


def _broken(first: Kept | None) -> str:
    """Return the limits that the first config breaks for sure."""
    return "" if first is None else first.words(False)
