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
from workbench.search.selection import Selection
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
    on_measured: OnMeasured = lambda _: None,
    cancel: threading.Event | None = None,
    clock: Callable[[], float] = time.perf_counter,
    start_worker: StartWorker | None = None,
) -> StudyRecord:
    """Search the space. `on_measured` gets the record so far after each round, so that a kill loses none."""
    request.check()
    with surroundings_here(cancel, start_worker, clock) as surroundings:
        study = _Study(request, surroundings, on_progress, on_measured)
        try:
            return study.run()
        except Cancelled as error:
            raise Cancelled(
                f"{error.problem}; every finished round is kept in the history",
                f"go on with wb.history().open({study.id!r}).attach(model).continue_()",
            ) from error


class _Study:
    """A study in progress."""

    def __init__(
        self,
        request: StudyRequest,
        surroundings: Surroundings,
        on_progress: OnProgress,
        on_measured: OnMeasured,
    ) -> None:
        now, earlier = datetime.now(UTC), request.earlier
        self.id = new_id(now) if earlier is None else earlier.id
        self._created_utc = now.isoformat(timespec="seconds") if earlier is None else earlier.created_utc
        self._confirmed_before = () if earlier is None else earlier.confirmations
        self._request = request
        self._surroundings = surroundings
        self._on_progress = on_progress
        self._on_measured = on_measured

    def run(self) -> StudyRecord:
        """Select, confirm the winner, and conclude."""
        request = self._request
        bench = LocalBench(request, self._surroundings, on_progress=self._on_progress, on_measured=self._keep)
        bench.start()
        suggest = None
        if len(request.space) > LARGE:
            suggest = Sampler(request.space, request.base, request.seed, len(request.objectives))
        winner = Selection(request.space, request.base, bench, suggest).run()
        _check_tried(bench)
        confirmations, proof, under_load = self._confirmed_before, None, None
        if winner != BASELINE:
            confirmations = self._confirmations(bench, winner)
            under_load = self._loaded(bench, winner, confirmations)
            proof = verdict_on(
                request.objective, confirmations[-1], under_load, bench.sizes(winner), request.smallest_effect
            )
        best, ended = _conclusion(request, bench, winner, confirmations, proof)
        return replace(
            self._unfinished(bench),
            confirmations=confirmations,
            winner=winner,
            best=best,
            ended=ended,
            proof=proof,
            under_load=under_load,
        )

    def _keep(self, bench: LocalBench) -> None:
        if len(bench.evidence.runs()) > 1:
            self._on_measured(self._unfinished(bench))

    def _unfinished(self, bench: LocalBench) -> StudyRecord:
        """Return the record so far."""
        request = self._request
        return StudyRecord(
            id=self.id,
            created_utc=self._created_utc,
            objective=request.objective,
            further=request.further,
            callers=request.callers,
            goal=request.goal,
            space=request.space,
            budget_s=bench.budget_s,
            elapsed_s=bench.elapsed_s,
            candidates=bench.candidates(),
            selection=self._selection(bench),
            confirmations=self._confirmed_before,
            winner=BASELINE,
            best=BASELINE,
            ended="the study was stopped before it had an answer",
        )

    def _confirmations(self, bench: LocalBench, winner: str) -> tuple[ComparisonRecord, ...]:
        """Compare the default with the winner on fresh rounds, or go on where they were compared before."""
        request, surroundings, earlier = self._request, self._surroundings, self._confirmed_before
        config, budget_s = bench.entries[winner].config, bench.confirm_s
        goes_on = bool(earlier) and earlier[-1].runs[1].config == config
        if goes_on:
            asked = request_to_continue(
                earlier[-1],
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

        record = compare(
            replace(asked, began=surroundings.clock()),
            on_progress=report,
            cancel=surroundings.cancel,
            clock=surroundings.clock,
            start_worker=surroundings.start_worker,
        )
        return (*(earlier[:-1] if goes_on else earlier), record)

    def _loaded(
        self, bench: LocalBench, winner: str, confirmations: tuple[ComparisonRecord, ...]
    ) -> LoadTestRecord | None:
        """Measure the default and the winner under load on fresh rounds, if throughput is the objective."""
        request = self._request
        if request.objective != "throughput" or any(run.failure for run in confirmations[-1].runs):
            return None
        bench.report(f"confirming with {request.callers} callers")
        return load_of(
            request,
            (request.base, bench.entries[winner].config),
            rounds=CONFIRM_LOADS,
            seed=request.seed + 1 + len(confirmations),
            cancel=self._surroundings.cancel,
            start_worker=self._surroundings.start_worker,
        )

    def _selection(self, bench: LocalBench) -> ComparisonRecord:
        """Return the rounds that selected as a comparison of all candidates."""
        request, evidence = self._request, bench.evidence
        runs = evidence.runs()
        criteria = Criteria(request.smallest_effect, evidence.population())
        return comparison_record(
            request.comparison(*(run.config for run in runs), seed=request.seed),
            evidence,
            self._surroundings.machine,
            id=self.id,
            created_utc=self._created_utc,
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
