"""A load test: rounds over configs and amounts of load, then the verdicts against the first config."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.measure.blocks import seconds_of
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.outcomes import TaskAnswer, WorkerTask
from workbench.core.measure.rounds import Participant
from workbench.core.measure.task_experiment import TaskExperiment
from workbench.features.load.points import load_notes, load_pairs
from workbench.features.load.record import (
    MOST_REQUESTS,
    LoadPoint,
    LoadRequest,
    LoadRun,
    LoadSlice,
    LoadTestRecord,
    LoadVerdict,
    Sessions,
)


class LoadRounds(TaskExperiment[LoadTestRecord]):
    """A load test of all configs at all amounts of load."""

    def __init__(self, load: LoadRequest, on_progress: OnProgress = lambda _: None) -> None:
        super().__init__(load.compared, load.elapsed_s, on_progress)
        self._load = load

    def prepared(
        self, folder: Path, on_step: Callable[[str], None], cancel: threading.Event | None
    ) -> tuple[Candidate, ...]:
        """Return the configs of the request; the sessions of a process share what it says."""
        return tuple(
            replace(
                candidate, plan={**candidate.plan, "shared": list(self._sessions(candidate.label).shared)}
            )
            for candidate in super().prepared(folder, on_step, cancel)
        )

    def run(self) -> None:
        """Run the rounds that were asked for."""
        self.run_until(lambda: self.rounds == self._load.rounds, self._measure_all)

    def _measure_all(self) -> None:
        self.rounds += 1
        for group in self._load_groups(self.outcomes.alive()):
            self.round(group, self._tasks(group))
        errors = [self.failed(candidate.label) for candidate in self.candidates]
        if errors[0] is not None and all(errors):
            raise errors[0]

    def record(self) -> LoadTestRecord:
        """Return the record with its verdicts."""
        agreement = self.agreement()
        runs = tuple(self._run(candidate) for candidate in self.candidates)
        return LoadTestRecord(
            model_name=self.request.model_name,
            points=self._load.points,
            duration_s=self._load.duration_s,
            seed=self.request.seed,
            runs=runs,
            agreement=agreement,
            verdicts=tuple(
                LoadVerdict(point, self._verdict_at(point, runs[0], run, agreement))
                for point in self._load.points
                for run in runs[1:]
            ),
            notes=load_notes(
                runs,
                self.surroundings.machine.usable_cores,
                self.outcomes.software(),
            ),
            max_p99_s=self._load.max_p99_s,
        )

    def open(self, participant: Participant) -> None:
        """Run once, write the outputs, of the baseline twice, and make the sessions of the callers."""
        label = participant.outcome.label
        participant.first_run()
        if len(self.outcomes.outputs(label)) < (2 if label == self.candidates[0].label else 1):
            participant.write_outputs(self.surroundings.folder)
        sessions, callers = self._sessions(label), self._load.most_callers
        feeds = str(participant.candidate.feeds) if sessions.processes else None
        participant.ask("callers", "load", sessions=sessions.count, callers=callers, feeds=feeds)

    def fraction(self) -> float | None:
        """Return the share of the rounds before this one."""
        return max(0, self.rounds - 1) / self._load.rounds or None

    def _load_groups(self, everyone: Sequence[Candidate]) -> list[list[Candidate]]:
        """Return all candidates in one group, or one by one if memory is short."""
        sessions = sum(self._session_count(candidate.label) for candidate in everyone)
        together = self.surroundings.has_room(sessions * self.request.model_bytes)
        return [[*everyone]] if together else [[candidate] for candidate in everyone]

    def _sessions(self, label: str) -> Sessions:
        return self._load.sessions[self.request.labels.index(label)]

    def _session_count(self, label: str) -> int:
        sessions = self._sessions(label)
        return self._load.most_callers + 1 if sessions.processes else sessions.count

    def _tasks(self, group: Sequence[Candidate]) -> list[WorkerTask]:
        return [
            WorkerTask(
                candidate.label,
                str(point),
                "serve",
                {
                    "callers": point.callers,
                    "seconds": self._load.duration_s / self._load.rounds,
                    "rate_hz": point.rate_hz,
                    "seed": self.request.seed + self.rounds,  # the same arrivals for every config
                    "most": MOST_REQUESTS,
                },
                subject=point,
            )
            for candidate in group
            for point in self._load.points
        ]

    def _run(self, candidate: Candidate) -> LoadRun:
        sessions = self._sessions(candidate.label)
        return LoadRun(
            sessions=sessions.count,
            shared=sessions.shared,
            processes=sessions.processes,
            slices=tuple(map(_slice, self.outcomes.answers(candidate.label))),
            **self.facts(candidate),
        )

    def _verdict_at(
        self, point: LoadPoint, baseline: LoadRun, run: LoadRun, agreement: Sequence[OutputAgreement]
    ) -> Verdict:
        failures = [side.failure.of(side.label) for side in (run, baseline) if side.failure]
        pairs = load_pairs(baseline, run, point)
        return self.verdict(run.label, pairs, agreement, failures[0] if failures else None)


def _slice(answer: TaskAnswer) -> LoadSlice:
    """Return the answers of a slice of load."""
    point, body = answer.task.subject, answer.body
    assert isinstance(point, LoadPoint)
    seconds = tuple(max(0.0, second) for second in seconds_of(answer.payload))
    count = sum(body["caller_counts"])
    return LoadSlice(
        round=answer.round,
        order=answer.order,
        point=point,
        request_count=body["requests"],
        caller_counts=tuple(body["caller_counts"]),
        caller_spans_s=tuple(span / 1e9 for span in body["caller_spans_ns"]),
        latency_s=seconds[:count],
        waited_s=seconds[count:],
        wall_s=body["wall_ns"] / 1e9,
        cpu_s=body["cpu_ns"] / 1e9,
        others_cpu_s=answer.others_cpu_s,
        disturbed=answer.disturbed,
    )
