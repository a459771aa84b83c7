"""What a study answers: the config, why it is the answer, and what keeps others from it."""

from __future__ import annotations

import math
from dataclasses import replace

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.run import Run
from workbench.core.errors import ConfigError
from workbench.core.measure.percentiles import NEEDED
from workbench.core.text import counted, factor, factor_ends
from workbench.features.accuracy.acceptance import Check
from workbench.features.tune.bench import LocalBench
from workbench.features.tune.entries import BASELINE
from workbench.features.tune.objectives import TOO_FEW, limit_checks, objective_pairs
from workbench.features.tune.request import StudyRequest

CONFIRM_P99 = 6  # gains in the 99th percentile, each of as many rounds as it takes
MOST_BEYOND = 3  # configs beyond a limit that are timed, to say what the goal would cost


def check_tried(bench: LocalBench) -> None:
    """Refuse a space of which nothing could be measured."""
    entries = [entry for entry in bench.entries.values() if entry.label != BASELINE]
    tried = [entry for entry in entries if entry.label in bench.evidence.candidates]
    if any(entry.state != "not tried" for entry in tried):
        return
    reasons = "; ".join(
        f"{config_in_words(entry.config)}: {entry.reason}" for entry in entries[:3] if entry.reason
    )
    untried = sum(entry.state == "not tried" for entry in entries)
    if untried or not reasons:
        others = f"; of others: {reasons}" if reasons else ""
        what = counted(untried, "config") if untried else "a round"
        raise ConfigError(
            f"nothing of the space was measured: there was no time for {what}{others}",
            "give a longer budget_s",
        )
    raise ConfigError(f"nothing of the space may be tried: {reasons}", "widen the space or the limits")


def conclusion_of(
    request: StudyRequest,
    bench: LocalBench,
    winner: str,
    confirmations: tuple[ComparisonRecord, ...],
    proof: Verdict | None,
) -> tuple[str, str]:
    """Return the label of the answer and why it is the answer."""
    default_is_in = BASELINE in bench.gains()
    of_default = _checks(request, bench, BASELINE, None if proof is None else confirmations[-1].runs[0])
    if winner == BASELINE or proof is None:
        if not default_is_in:
            return BASELINE, f"no config keeps the limits: {bench.entries[BASELINE].reason}"
        untried = sum(entry.state == "not tried" for entry in bench.entries.values())
        better = "nothing in the space was better"
        if untried:
            better = f"nothing that was tried was better; there was no time for {counted(untried, 'config')}"
        if request.objective == "p99" and not any(bench.gains().values()):
            better = f"nothing is known of what was tried: {TOO_FEW.format(NEEDED[99.0])}"
        return BASELINE, (unreached(request, bench, None) or better) + _with_open(_reasons(of_default, None))
    entry = bench.entries[winner]
    record = confirmations[-1]
    kept = _checks(request, bench, winner, record.runs[1])
    broken, not_settled = _reasons(kept, False), _reasons(kept, None)
    if default_is_in and all(check.passed for check in of_default):  # which keeps them for sure
        broken = broken or not_settled
    words = config_in_words(entry.config)
    if record.runs[1].failure is not None:
        return BASELINE, f"{words} failed when it was measured again: {record.runs[1].failure.problem}"
    if proof.kind == "outputs differ":
        return BASELINE, f"{words} was left out at the end: {proof.reason}"
    if broken:
        return BASELINE, f"{words} was left out at the end: {broken}"
    if not default_is_in:
        broken = bench.entries[BASELINE].reason
        return winner, f"the default breaks a limit: {broken}" + _with_open(not_settled)
    if proof.kind != "faster":
        looked = (
            "" if proof.ratio is None else f" ({factor(proof.ratio, proof.low, proof.high)} on fresh rounds)"
        )
        return BASELINE, f"{words} led the race and was not confirmed{looked}: {proof.reason}"
    ended = unreached(request, bench, proof) or "confirmed on fresh rounds"
    return winner, ended + _with_open(not_settled)


def _with_open(reasons: str) -> str:
    return f"; whether it keeps the limits is not settled: {reasons}" if reasons else ""


def is_open(request: StudyRequest, bench: LocalBench, winner: str, record: ComparisonRecord) -> bool:
    """Return whether more rounds may settle a limit, or whether the objective is measured at all."""
    if any(run.failure for run in record.runs) or record.verdict.kind == "outputs differ":
        return False
    if request.objective == "p99":
        pairs = objective_pairs("p99", record.runs[0], record.runs[1], bench.sizes(winner))
        if len(pairs) < CONFIRM_P99:
            return True
    return any(check.passed is None for check in _checks(request, bench, winner, record.runs[1]))


def _checks(request: StudyRequest, bench: LocalBench, label: str, fresh: Run | None) -> list[Check]:
    """Check the limits on all that was measured of a config."""
    run = bench.measured(label)
    if fresh is not None:
        run = replace(run, processes=(*run.processes, *fresh.processes))
    entry = bench.entries[label]
    return [limit.check for limit in limit_checks(request.goal, run, entry.file_bytes, entry.rates)]


def _reasons(checks: list[Check], passed: bool | None) -> str:
    return "; ".join(check.reason for check in checks if check.passed is passed)


def unreached(request: StudyRequest, bench: LocalBench, proof: Verdict | None) -> str | None:
    """Return what keeps a required speed-up from being reached; None if it is reached.

    `proof` is the verdict that the answer is faster; None: the answer is the default.
    """
    wanted = request.goal.min_speedup
    if wanted is None or (1.0 if proof is None else proof.bound or 1.0) >= wanted:
        return None
    if proof is not None and proof.is_open_to(wanted):
        return f"whether the goal of {wanted:.2f}× is reached is open: it is {proof.factor}"
    best = "the default" if proof is None else f"{proof.factor}{factor_ends(proof.low, proof.high)}"
    text = f"the goal of {wanted:.2f}× is not reached: the best within the limits is {best}"
    gains = bench.time_anyway(MOST_BEYOND)
    for label in sorted(gains, key=lambda label: gains[label]):
        if (ratio := math.exp(gains[label])) >= wanted:
            entry = bench.entries[label]
            return f"{text}; {config_in_words(entry.config)} would reach {factor(ratio)}, and {entry.reason}"
    return text
