"""A load test: rounds over configs and amounts of load, then the verdicts against the first config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.interleaved import TaskAnswer, WorkerTask
from workbench.core.measure.limits import OnProgress
from workbench.core.measure.participant import Participant
from workbench.core.measure.rounds import seconds_of
from workbench.core.measure.task_rounds import TaskRounds
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


class LoadRounds(TaskRounds[LoadTestRecord]):
    """A load test of all configs at all amounts of load."""

    def __init__(self, request: LoadRequest, on_progress: OnProgress = lambda _: None) -> None:
        super().__init__(request.compared, request.elapsed_s, on_progress)
        self._request = request

    def run(self) -> None:
        """Run all rounds; the sessions of a process share what the request says."""
        self.candidates = tuple(
            replace(
                candidate, plan={**candidate.plan, "shared": list(self._sessions(candidate.label).shared)}
            )
            for candidate in self.candidates
        )
        for number in range(1, self._request.rounds + 1):
            for group in self._groups():
                self.round(number, group, self._tasks(group, number))
            failures = [gathered.failure for gathered in self.gathered.values()]
            if failures[0] is not None and all(failures):
                raise RunFailed(f"{self.compared.model_name}: {failures[0].problem}", failures[0].fix)

    def record(self) -> LoadTestRecord:
        """Return the record with its verdicts."""
        agreement = self.agreement()
        runs = tuple(self._run(candidate) for candidate in self.candidates)
        return LoadTestRecord(
            model_name=self.compared.model_name,
            points=self._request.points,
            duration_s=self._request.duration_s,
            seed=self.compared.seed,
            runs=runs,
            agreement=agreement,
            verdicts=tuple(
                LoadVerdict(point, self._verdict_at(point, runs[0], run, agreement))
                for point in self._request.points
                for run in runs[1:]
            ),
            notes=load_notes(
                runs,
                self.surroundings.machine.usable_cores,
                {label: gathered.versions for label, gathered in self.gathered.items()},
            ),
            max_p99_s=self._request.max_p99_s,
        )

    def open(self, participant: Participant) -> None:
        """Run once, write the outputs, of the baseline twice, and make the sessions of the callers."""
        label = participant.outcome.label
        participant.ask("first_run", "first run", feeds=str(participant.candidate.feeds))
        gathered = self.gathered[label]
        is_control = label == self.candidates[0].label and gathered.again is None
        if gathered.outputs is None or is_control:
            path = self.surroundings.folder / f"{participant.worker.name}.outputs"
            participant.ask("outputs", "outputs", path=str(path))
            if gathered.outputs is None:
                gathered.outputs = path
            else:
                gathered.again = path
        sessions, callers = self._sessions(label), self._request.most_callers
        feeds = str(participant.candidate.feeds) if sessions.processes else None
        participant.ask("callers", "load", sessions=sessions.count, callers=callers, feeds=feeds)

    def take(self, answer: TaskAnswer) -> None:
        """Keep the answers of a slice of load."""
        point, body = answer.task.subject, answer.body
        assert isinstance(point, LoadPoint)
        seconds = tuple(max(0.0, second) for second in seconds_of(answer.payload))
        count = sum(body["caller_counts"])
        self.gathered[answer.task.label].parts.append(
            LoadSlice(
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
        )

    def fraction(self, number: int, elapsed_s: float) -> float | None:  # noqa: ARG002
        """Return the share of the rounds before this one."""
        return min(1.0, (number - 1) / self._request.rounds) or None

    def _groups(self) -> list[list[Candidate]]:
        """Return all candidates that run in one group, or one by one if memory is short."""
        alive = self.alive()
        sessions = sum(self._session_count(candidate.label) for candidate in alive)
        together = self.surroundings.has_room(sessions * self.compared.model_bytes)
        return [alive] if together else [[candidate] for candidate in alive]

    def _sessions(self, label: str) -> Sessions:
        return self._request.sessions[self.compared.labels.index(label)]

    def _session_count(self, label: str) -> int:
        sessions = self._sessions(label)
        return self._request.most_callers + 1 if sessions.processes else sessions.count

    def _tasks(self, group: Sequence[Candidate], number: int) -> list[WorkerTask]:
        return [
            WorkerTask(
                candidate.label,
                str(point),
                "serve",
                {
                    "callers": point.callers,
                    "seconds": self._request.duration_s / self._request.rounds,
                    "rate_hz": point.rate_hz,
                    "seed": self.compared.seed + number,  # the same arrivals for every config
                    "most": MOST_REQUESTS,
                },
                subject=point,
            )
            for candidate in group
            for point in self._request.points
        ]

    def _run(self, candidate: Candidate) -> LoadRun:
        sessions = self._sessions(candidate.label)
        return LoadRun(
            sessions=sessions.count,
            shared=sessions.shared,
            processes=sessions.processes,
            slices=tuple(self.gathered[candidate.label].parts),
            **self.facts(candidate),
        )

    def _verdict_at(
        self, point: LoadPoint, baseline: LoadRun, run: LoadRun, agreement: Sequence[OutputAgreement]
    ) -> Verdict:
        failures = [side.failure.of(side.label) for side in (run, baseline) if side.failure]
        pairs = load_pairs(baseline, run, point)
        return self.verdict(run.label, pairs, agreement, failures[0] if failures else None)
