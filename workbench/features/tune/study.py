"""A study from its first round to its answer: select, confirm on fresh rounds, conclude."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.origin import new_id
from workbench.core.errors import Cancelled
from workbench.core.measure.compare import compare, comparison_record
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.continuing import request_to_continue
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.measure.surroundings import StartWorker, Surroundings, surroundings_here
from workbench.core.measure.verdict import Criteria, judge
from workbench.features.load.record import LoadTestRecord
from workbench.features.tune.bench import LocalBench
from workbench.features.tune.conclusion import check_tried, conclusion_of, is_open
from workbench.features.tune.entries import BASELINE
from workbench.features.tune.objectives import load_of, verdict_on
from workbench.features.tune.optuna_trials import LARGE, Sampler
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.selection import Selection

CONFIRM_LOADS = 6  # rounds of a load test: an interval needs 3

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
        check_tried(bench)
        confirmations, proof, under_load = self._confirmed_before, None, None
        if winner != BASELINE:
            confirmations = self._confirmations(bench, winner)
            under_load = self._loaded(bench, winner, confirmations)
            proof = verdict_on(
                request.objective, confirmations[-1], under_load, bench.sizes(winner), request.smallest_effect
            )
        best, ended = conclusion_of(request, bench, winner, confirmations, proof)
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
            asked = self._going_on(earlier[-1], budget_s)
        else:
            seed = request.seed + 1 + len(earlier)  # other than that of the selection
            asked = request.comparison(request.base, config, budget_s=budget_s, seed=seed)
        words = config_in_words(config)

        def report(progress: Progress) -> None:
            shown = bench.progress(f"confirming {words} on fresh rounds, {progress.doing}")
            self._on_progress(replace(shown, round=progress.round))

        while True:
            record = compare(
                replace(asked, began=surroundings.clock()),
                on_progress=report,
                cancel=surroundings.cancel,
                clock=surroundings.clock,
                start_worker=surroundings.start_worker,
            )
            left_s = bench.budget_s - bench.elapsed_s
            if left_s < bench.confirm_round_s or not is_open(request, bench, winner, record):
                return (*(earlier[:-1] if goes_on else earlier), record)
            asked = self._going_on(record, left_s)

    def _going_on(self, record: ComparisonRecord, budget_s: float) -> CompareRequest:
        request = self._request
        return request_to_continue(
            record,
            request.model,
            request.inputs,
            budget_s=budget_s,
            calibration=request.calibration,
            limits=request.limits,
        )

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
