"""A load test: rounds over configs and amounts of load, then the verdicts against the first config."""

from __future__ import annotations

import random
import threading
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbench.errors import RunFailed
from workbench.judge.agreement import compare_outputs
from workbench.judge.candidates import make_candidates
from workbench.judge.load_points import load_notes, load_pairs
from workbench.judge.load_request import MOST_REQUESTS, LoadRequest, Sessions
from workbench.judge.pairs import population_of
from workbench.judge.tolerance import required_sqnr_db
from workbench.judge.verdict import Criteria, judge
from workbench.measurement.candidate import Candidate
from workbench.measurement.interference import Watch
from workbench.measurement.interleaved import (
    Ask,
    InterleavedRound,
    InterleavedSetup,
    Process,
    Task,
    TaskAnswer,
)
from workbench.measurement.limits import OnProgress, Progress
from workbench.measurement.machine import read_machine
from workbench.measurement.rounds import StartWorker
from workbench.records.comparison import OutputAgreement
from workbench.records.load_test import (
    LoadPoint,
    LoadRun,
    LoadSlice,
    LoadTestRecord,
    LoadVerdict,
)
from workbench.records.machine import Machine
from workbench.records.run import Failure
from workbench.worker.launch import Worker, WorkerFolder
from workbench.worker.values import read_values

MEMORY_PER_MODEL_BYTE = 3  # weights, their prepacked copies, activations
MEMORY_SHARE = 0.6


def measure_load(
    request: LoadRequest,
    *,
    on_progress: OnProgress = lambda _: None,
    cancel: threading.Event | None = None,
    start_worker: StartWorker = Worker,
) -> LoadTestRecord:
    """Measure all points of all configs. Raise RunFailed if the first config could not run."""
    compared = request.compared
    with WorkerFolder() as folder:

        def report_step(step: str) -> None:
            on_progress(Progress(step, 0, 0.0, request.elapsed_s, None, None))

        candidates = tuple(
            replace(candidate, plan={**candidate.plan, "shared": list(sessions.shared)})
            for candidate, sessions in zip(
                make_candidates(compared, folder, on_step=report_step, cancel=cancel),
                request.sessions,
                strict=True,
            )
        )
        machine, watch = read_machine(), Watch()
        setup = InterleavedSetup(folder, machine.usable_cores, compared.limits, watch, cancel, start_worker)
        measuring = _LoadMeasuring(request, candidates, setup, machine, on_progress)
        try:
            measuring.run()
        finally:
            watch.close()
        return measuring.record()


@dataclass(slots=True)
class _Gathered:
    """What is known of one candidate so far."""

    providers: tuple[str, ...] = ()
    threads: int | None = None
    rss_bytes: list[int] = field(default_factory=list)
    slices: list[LoadSlice] = field(default_factory=list)
    failure: Failure | None = None
    outputs: Path | None = None


class _LoadMeasuring:
    """A load test in progress."""

    def __init__(
        self,
        request: LoadRequest,
        candidates: tuple[Candidate, ...],
        setup: InterleavedSetup,
        machine: Machine,
        on_progress: OnProgress,
    ) -> None:
        self._request = request
        self._candidates = candidates
        self._setup = setup
        self._machine = machine
        self._on_progress = on_progress
        self._began = time.perf_counter()
        self._gathered = {candidate.label: _Gathered(failure=candidate.failure) for candidate in candidates}

    def run(self) -> None:
        """Run all rounds; a config that failed takes no part in later ones."""
        rng = random.Random(self._request.compared.seed)
        for number in range(1, self._request.rounds + 1):
            for group in self._groups():
                round_ = InterleavedRound(
                    self._setup,
                    number,
                    rng,
                    self._open,
                    lambda step, number=number: self._report(step, number),  # type: ignore[misc]
                )
                processes = round_.run(group, self._tasks(group, number))
                for process in processes:
                    self._take_process(process)
                for answer in round_.answers:
                    self._take_answer(answer)
            self._raise_if_none_runs()

    def record(self) -> LoadTestRecord:
        """Return the record with its verdicts."""
        agreement = self._agreement()
        runs = tuple(self._run(candidate) for candidate in self._candidates)
        verdicts = tuple(
            LoadVerdict(point, self._verdict(point, runs[0], run, agreement))
            for point in self._request.points
            for run in runs[1:]
        )
        return LoadTestRecord(
            model_name=self._request.compared.model_name,
            points=self._request.points,
            duration_s=self._request.duration_s,
            seed=self._request.compared.seed,
            runs=runs,
            agreement=agreement,
            verdicts=verdicts,
            notes=load_notes(runs, self._machine.usable_cores),
        )

    def _groups(self) -> list[list[Candidate]]:
        """Return all candidates that run in one group, or one by one if memory is short."""
        alive = [candidate for candidate in self._candidates if not self._gathered[candidate.label].failure]
        sessions = sum(self._sessions(candidate).count for candidate in alive)
        needed = sessions * MEMORY_PER_MODEL_BYTE * self._request.compared.model_bytes
        limit = self._machine.memory_limit_bytes or self._machine.memory_bytes
        return [alive] if needed <= MEMORY_SHARE * limit else [[candidate] for candidate in alive]

    def _sessions(self, candidate: Candidate) -> Sessions:
        return self._request.sessions[self._request.compared.labels.index(candidate.label)]

    def _tasks(self, group: Sequence[Candidate], number: int) -> list[Task]:
        seconds = self._request.duration_s / self._request.rounds
        return [
            Task(
                candidate.label,
                str(point),
                "serve",
                {
                    "callers": point.callers,
                    "seconds": seconds,
                    "rate_hz": point.rate_hz,
                    "seed": self._request.compared.seed + number,  # the same arrivals for every config
                    "most": MOST_REQUESTS,
                },
                subject=point,
            )
            for candidate in group
            for point in self._request.points
        ]

    def _open(self, process: Process, ask: Ask) -> dict[str, Any]:
        """Run once, write the outputs of the first round, and make the sessions of the callers."""
        candidate = process.candidate
        ask("first_run", "first run", feeds=str(candidate.feeds))
        if self._gathered[candidate.label].outputs is None:
            path = self._setup.folder / f"{process.worker.name}.outputs"
            ask("outputs", "outputs", path=str(path))
            self._gathered[candidate.label].outputs = path
        opened: dict[str, Any] = ask(
            "callers",
            "load",
            sessions=self._sessions(candidate).count,
            callers=self._request.most_callers,
        ).body
        return opened

    def _take_process(self, process: Process) -> None:
        gathered = self._gathered[process.candidate.label]
        gathered.failure = gathered.failure or process.failure
        if process.loaded:
            gathered.providers = tuple(process.loaded["providers"])
            gathered.threads = process.loaded["threads"]
        if process.usage.get("rss_bytes") is not None:
            gathered.rss_bytes.append(process.usage["rss_bytes"])

    def _take_answer(self, answer: TaskAnswer) -> None:
        point = answer.task.subject
        assert isinstance(point, LoadPoint)
        seconds = _seconds(answer.payload)
        count = sum(answer.body["caller_counts"])
        self._gathered[answer.task.label].slices.append(
            LoadSlice(
                round=answer.round,
                order=answer.order,
                point=point,
                request_count=answer.body["requests"],
                caller_counts=tuple(answer.body["caller_counts"]),
                caller_spans_s=tuple(span / 1e9 for span in answer.body["caller_spans_ns"]),
                latency_s=seconds[:count],
                waited_s=seconds[count:],
                wall_s=answer.body["wall_ns"] / 1e9,
                cpu_s=answer.body["cpu_ns"] / 1e9,
                others_cpu_s=answer.others_cpu_s,
                disturbed=answer.disturbed,
            )
        )

    def _raise_if_none_runs(self) -> None:
        failure = self._gathered["A"].failure
        if failure is not None and all(row.failure for row in self._gathered.values()):
            raise RunFailed(f"{self._request.compared.model_name}: {failure.problem}", failure.fix)

    def _run(self, candidate: Candidate) -> LoadRun:
        gathered, sessions = self._gathered[candidate.label], self._sessions(candidate)
        return LoadRun(
            label=candidate.label,
            config=candidate.config,
            sessions=sessions.count,
            shared=sessions.shared,
            providers=gathered.providers,
            threads=gathered.threads,
            rss_bytes=tuple(gathered.rss_bytes),
            slices=tuple(gathered.slices),
            failure=gathered.failure,
            preparation=candidate.preparation,
        )

    def _agreement(self) -> tuple[OutputAgreement, ...]:
        baseline, *others = self._candidates
        expected = self._gathered[baseline.label].outputs
        rows: list[OutputAgreement] = []
        for candidate in others:
            outputs = self._gathered[candidate.label].outputs
            if expected is not None and outputs is not None:
                rows += compare_outputs(
                    candidate.label,
                    read_values(expected),
                    read_values(outputs),
                    tolerance=self._request.compared.tolerance,
                    least_sqnr_db=required_sqnr_db(baseline.least_sqnr_db, candidate.least_sqnr_db),
                )
        return tuple(rows)

    def _verdict(
        self, point: LoadPoint, baseline: LoadRun, run: LoadRun, agreement: Sequence[OutputAgreement]
    ) -> Any:
        pairs = load_pairs(baseline, run, point)
        failures = [f"{side.label}: {side.failure.problem}" for side in (run, baseline) if side.failure]
        criteria = Criteria(self._request.compared.smallest_effect, population_of([pairs]))
        return judge(
            run.label, pairs, agreement, criteria, final=True, failure=failures[0] if failures else None
        )

    def _report(self, step: str, number: int) -> None:
        elapsed_s = time.perf_counter() - self._began
        fraction = min(1.0, (number - 1) / self._request.rounds)
        remaining_s = elapsed_s / fraction - elapsed_s if fraction else None
        self._on_progress(
            Progress(step, number, elapsed_s, self._request.elapsed_s, fraction or None, remaining_s)
        )


def _seconds(payload: bytes) -> tuple[float, ...]:
    nanoseconds = array("q")
    nanoseconds.frombytes(payload)
    return tuple(max(0, sample) / 1e9 for sample in nanoseconds)
