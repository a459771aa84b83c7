"""A study from its first round to its answer: select, confirm on fresh rounds, conclude."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from workbench.errors import Cancelled, ConfigError
from workbench.judge.compare import compare, comparison_record
from workbench.judge.continuing import request_to_continue
from workbench.judge.verdict import Criteria, judge
from workbench.measurement.limits import OnProgress, Progress
from workbench.measurement.surroundings import StartWorker, Surroundings, surroundings_here
from workbench.records.comparison import ComparisonRecord, Verdict
from workbench.records.display import config_in_words
from workbench.records.load_test import LoadTestRecord
from workbench.records.origin import new_id
from workbench.records.study import StudyRecord
from workbench.search.bench import LocalBench
from workbench.search.objectives import broken_limit, verdict_on
from workbench.search.optuna_trials import LARGE, Sampler
from workbench.search.request import StudyRequest
from workbench.search.selection import Selection, Suggest
from workbench.search.standings import BASELINE
from workbench.search.under_load import load_of
from workbench.text import counted

CONFIRM_LOADS = 6  # rounds of a load test: an interval needs 3
MOST_BEYOND = 3  # configs beyond a limit that are timed, to say what the goal would cost

OnMeasured = Callable[[StudyRecord], None]


def run_study(
    request: StudyRequest,
    *,
    on_progress: OnProgress = lambda _: None,
    on_measured: OnMeasured | None = None,
    cancel: threading.Event | None = None,
    suggest: Suggest | None = None,
    clock: Callable[[], float] = time.perf_counter,
    start_worker: StartWorker | None = None,
) -> StudyRecord:
    """Search the space. `on_measured` gets the record so far after each round, so that a kill loses none."""
    request.check()
    created = datetime.now(UTC)
    identity = new_id(created) if request.earlier is None else request.earlier.id
    created_utc = (
        created.isoformat(timespec="seconds") if request.earlier is None else request.earlier.created_utc
    )
    with surroundings_here(cancel, start_worker, clock) as surroundings:

        def record_of(bench: LocalBench, **changes: object) -> StudyRecord:
            earlier = request.earlier
            unfinished = StudyRecord(
                id=identity,
                created_utc=created_utc,
                objective=request.objective,
                further=request.further,
                callers=request.callers,
                goal=request.goal,
                space=request.space,
                budget_s=bench.budget_s,
                elapsed_s=bench.elapsed_s,
                candidates=bench.candidates(),
                selection=_selection(request, bench, surroundings, identity, created_utc),
                confirmations=() if earlier is None else earlier.confirmations,
                winner=BASELINE,
                best=BASELINE,
                ended="the study was stopped before it had an answer",
            )
            return replace(unfinished, **changes)  # type: ignore[arg-type]

        def keep(bench: LocalBench) -> None:
            if on_measured is not None and len(bench.evidence.runs()) > 1:
                on_measured(record_of(bench))

        try:
            bench = LocalBench(request, surroundings, on_progress=on_progress, on_measured=keep)
            bench.start()
            if suggest is None and len(request.space) > LARGE:
                suggest = Sampler(request.space, request.base, request.seed, len(request.objectives))
            winner = Selection(request.space, request.base, bench, suggest).run()
            _check_tried(bench)
            confirmations = () if request.earlier is None else request.earlier.confirmations
            proof, under_load = None, None
            if winner != BASELINE:
                confirmations = (
                    *_without(confirmations, bench, winner),
                    _confirmed(request, bench, winner, confirmations, surroundings, cancel),
                )
                under_load = _loaded(request, bench, winner, confirmations, surroundings, cancel)
                proof = verdict_on(
                    request.objective,
                    confirmations[-1],
                    under_load,
                    bench.sizes(winner),
                    request.smallest_effect,
                )
            best, ended = _conclusion(request, bench, winner, confirmations, proof)
            return record_of(
                bench,
                confirmations=confirmations,
                winner=winner,
                best=best,
                ended=ended,
                proof=proof,
                under_load=under_load,
            )
        except Cancelled as error:
            raise Cancelled(
                f"{error.problem}; every finished round is kept in the history",
                f"go on with wb.history().open({identity!r}).attach(model).continue_()",
            ) from error


def _check_tried(bench: LocalBench) -> None:
    """Refuse a space of which nothing could be measured."""
    entries = [entry for entry in bench.entries.values() if entry.label != BASELINE]
    tried = [entry for entry in entries if bench.evidence.has(entry.label)]
    if any(entry.state != "not tried" for entry in tried):
        return
    reasons = "; ".join(
        f"{config_in_words(entry.config)}: {entry.reason}" for entry in entries[:3] if entry.reason
    )
    raise ConfigError(
        f"nothing of the space may be tried: {reasons or 'there was no time for a round'}",
        "widen the space or the limits, or give a longer budget_s",
    )


def _confirmed(
    request: StudyRequest,
    bench: LocalBench,
    winner: str,
    earlier: tuple[ComparisonRecord, ...],
    surroundings: Surroundings,
    cancel: threading.Event | None,
) -> ComparisonRecord:
    """Compare the default with the winner on fresh rounds, or go on where they were compared before."""
    config = bench.entries[winner].config
    budget_s = bench.confirm_s
    before = earlier[-1] if earlier else None
    if before is not None and before.runs[1].config == config:
        asked = request_to_continue(
            before,
            request.model,
            request.inputs,
            budget_s=budget_s,
            calibration=request.calibration,
            limits=request.limits,
        )
    else:
        seed = request.seed + 1 + len(earlier)  # other than that of the selection
        asked = request.comparison(request.base, config, budget_s=budget_s, seed=seed)
    words = config_in_words(config)

    def report(progress: Progress) -> None:
        bench.report(f"confirming {words} on fresh rounds, {progress.doing}", rounds=progress.round)

    return compare(
        replace(asked, began=surroundings.clock()),
        on_progress=report,
        cancel=cancel,
        clock=surroundings.clock,
        start_worker=surroundings.start_worker,
    )


def _loaded(
    request: StudyRequest,
    bench: LocalBench,
    winner: str,
    confirmations: tuple[ComparisonRecord, ...],
    surroundings: Surroundings,
    cancel: threading.Event | None,
) -> LoadTestRecord | None:
    """Measure the default and the winner under load on fresh rounds, if throughput is the objective."""
    if request.objective != "throughput" or any(run.failure for run in confirmations[-1].runs):
        return None
    bench.report(f"confirming with {request.callers} callers")
    return load_of(
        request,
        (request.base, bench.entries[winner].config),
        rounds=CONFIRM_LOADS,
        seed=request.seed + 1 + len(confirmations),
        cancel=cancel,
        start_worker=surroundings.start_worker,
    )


def _without(
    confirmations: tuple[ComparisonRecord, ...], bench: LocalBench, winner: str
) -> tuple[ComparisonRecord, ...]:
    """Return the earlier confirmations without the last one if it is of the same config and goes on."""
    if confirmations and confirmations[-1].runs[1].config == bench.entries[winner].config:
        return confirmations[:-1]
    return confirmations


def _conclusion(
    request: StudyRequest,
    bench: LocalBench,
    winner: str,
    confirmations: tuple[ComparisonRecord, ...],
    proof: Verdict | None,
) -> tuple[str, str]:
    """Return the label of the answer and why it is the answer."""
    default_is_in = BASELINE in bench.gains()
    if winner == BASELINE or proof is None:
        if not default_is_in:
            return BASELINE, f"no config keeps the limits: {bench.entries[BASELINE].reason}"
        untried = sum(entry.state == "not tried" for entry in bench.entries.values())
        better = "nothing in the space was better"
        if untried:
            better = f"nothing that was tried was better; there was no time for {counted(untried, 'config')}"
        return BASELINE, _unreached(request, bench, 1.0) or better
    entry = bench.entries[winner]
    record = confirmations[-1]
    broken = broken_limit(request.goal, record.runs[1], entry.file_bytes)
    words = config_in_words(entry.config)
    if record.runs[1].failure is not None:
        return BASELINE, f"{words} failed when it was measured again: {record.runs[1].failure.problem}"
    if proof.kind == "outputs differ":
        return BASELINE, f"{words} was left out at the end: {proof.reason}"
    if broken is not None:
        return BASELINE, f"{words} was left out at the end: {broken}"
    if not default_is_in:
        return winner, f"the default breaks a limit: {bench.entries[BASELINE].reason}"
    if proof.kind != "faster":
        looked = "" if proof.ratio is None else f" ({proof.ratio:.3f}× on fresh rounds)"
        return BASELINE, f"{words} led the race and was not confirmed{looked}: {proof.reason}"
    return winner, _unreached(request, bench, proof.ratio or 1.0) or "confirmed on fresh rounds"


def _unreached(request: StudyRequest, bench: LocalBench, reached: float) -> str | None:
    """Return what keeps a required speed-up from being reached; None if it is reached."""
    wanted = request.goal.min_speedup
    if wanted is None or reached >= wanted:
        return None
    text = f"the goal of {wanted:.2f}× is not reached: the best within the limits is {reached:.2f}×"
    gains = bench.time_anyway(MOST_BEYOND)
    for label in sorted(gains, key=lambda label: gains[label]):
        if (ratio := math.exp(gains[label])) >= wanted:
            entry = bench.entries[label]
            return f"{text}; {config_in_words(entry.config)} would reach {ratio:.2f}×, and {entry.reason}"
    return text


def _selection(
    request: StudyRequest, bench: LocalBench, surroundings: Surroundings, identity: str, created_utc: str
) -> ComparisonRecord:
    """Return the rounds that selected as a comparison of all candidates."""
    evidence = bench.evidence
    runs = evidence.runs()
    criteria = Criteria(request.smallest_effect, evidence.population())
    return comparison_record(
        request.comparison(*(run.config for run in runs), seed=request.seed),
        evidence,
        surroundings.machine,
        id=identity,
        created_utc=created_utc,
        budget_s=bench.budget_s,
        elapsed_s=bench.elapsed_s,
        runs=runs,
        verdicts=tuple(
            judge(
                run.label,
                evidence.pairs(run.label, clock="wall"),
                evidence.agreement,
                criteria,
                final=True,
                failure=None if run.failure is None else run.failure.problem,
            )
            for run in runs[1:]
        ),
        doubts=(),
    )
