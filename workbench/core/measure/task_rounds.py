"""Rounds of tasks over configs: what a decoding and a load test have in common."""

from __future__ import annotations

import random
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.bundle.run import Failure
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.candidates import make_candidates
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.evidence import agreement_of
from workbench.core.measure.interleaved import InterleavedRound, TaskAnswer, WorkerTask
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.measure.pairs import Pair, population_of
from workbench.core.measure.participant import Participant
from workbench.core.measure.surroundings import StartWorker, Surroundings, surroundings_here
from workbench.core.measure.verdict import Criteria, is_enough, judge
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import read_values

Record = TypeVar("Record")

_LEAST_ROUNDS = 3  # an interval needs them, whatever the budget
_MOST_ROUNDS = 12
_ROUNDS_ALONE = 5  # of one config, which needs no verdict


@dataclass(slots=True)
class Gathered:
    """What is known of one candidate so far."""

    providers: tuple[str, ...] = ()
    threads: int | None = None
    threads_from: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)  # that a worker reported
    io: str | None = None
    rss_bytes: list[int] = field(default_factory=list)
    parts: list[Any] = field(default_factory=list)  # the records of its answers
    failure: Failure | None = None
    outputs: Path | None = None
    again: Path | None = None  # of the baseline: the outputs of another process


class TaskRounds(ABC, Generic[Record]):
    """A measurement in progress. Subclasses say what a round does and what its answers mean."""

    surroundings: Surroundings
    candidates: tuple[Candidate, ...]
    gathered: dict[str, Gathered]

    def __init__(self, compared: CompareRequest, budget_s: float, on_progress: OnProgress) -> None:
        self.compared = compared
        self.budget_s = budget_s
        self._on_progress = on_progress
        self._rng = random.Random(compared.seed)

    def measure(self, cancel: threading.Event | None, start_worker: StartWorker = Worker) -> Record:
        """Prepare the configs, run all rounds, and return the record. Raise RunFailed if none can run."""

        def report_step(step: str) -> None:
            self._on_progress(Progress(step, 0, 0.0, self.budget_s, None, None))

        with surroundings_here(cancel, start_worker) as self.surroundings:
            folder = self.surroundings.folder
            self.candidates = self.prepared(folder, report_step, cancel)
            self.gathered = {row.label: Gathered(failure=row.failure) for row in self.candidates}
            self.began = time.perf_counter()
            self.run()
            return self.record()

    def prepared(
        self, folder: Path, on_step: Callable[[str], None], cancel: threading.Event | None
    ) -> tuple[Candidate, ...]:
        """Return what takes part, ready to measure: the configs of the request."""
        return make_candidates(self.compared, folder, on_step=on_step, cancel=cancel)

    @abstractmethod
    def run(self) -> None:
        """Run all rounds."""

    @abstractmethod
    def record(self) -> Record:
        """Return the record with its verdicts."""

    @abstractmethod
    def open(self, participant: Participant) -> None:
        """Prepare a process after its session was made."""

    @abstractmethod
    def take(self, answer: TaskAnswer) -> None:
        """Keep what an answer says."""

    def fraction(self, number: int, elapsed_s: float) -> float | None:
        """Return the done share in this round, here that of the budget; None: not known."""
        return min(1.0, elapsed_s / self.budget_s) if number else None

    def until_known(
        self,
        tasks: Callable[[Sequence[Candidate]], Sequence[WorkerTask]],
        pairs: Callable[[], Sequence[tuple[Pair, ...]]],
    ) -> None:
        """Run rounds of these tasks until the verdicts on the pairs are known, or the budget is spent."""
        for number in range(1, _MOST_ROUNDS + 1):
            began = time.perf_counter()
            alive = self.alive()
            self.round(number, alive, tasks(alive))
            now = time.perf_counter()
            out_of_time = now - self.began + (now - began) > self.budget_s
            if number >= _LEAST_ROUNDS and (out_of_time or self._is_enough(number, pairs())):
                return

    def _is_enough(self, rounds: int, pairs: Sequence[tuple[Pair, ...]]) -> bool:
        """Return whether more rounds would only confirm the verdicts; one config alone gets five."""
        if len(self.alive()) < 2:
            return rounds >= _ROUNDS_ALONE
        return all(is_enough(row, self.criteria(row)) for row in pairs)

    def alive(self) -> list[Candidate]:
        """Return the configs that have not failed."""
        return [candidate for candidate in self.candidates if self.gathered[candidate.label].failure is None]

    def round(self, number: int, candidates: Sequence[Candidate], tasks: Sequence[WorkerTask]) -> None:
        """Do the tasks in fresh processes; a config that fails takes no part in later rounds."""

        def report(step: str) -> None:
            elapsed_s = time.perf_counter() - self.began
            fraction = self.fraction(number, elapsed_s)
            remaining_s = None if not fraction else max(0.0, elapsed_s / fraction - elapsed_s)
            self._on_progress(Progress(step, number, elapsed_s, self.budget_s, fraction, remaining_s))

        round_ = InterleavedRound(self.surroundings, self.compared.limits, number, self._rng, report)
        answers = round_.run(candidates, tasks, self.open)
        for outcome in round_.outcomes:
            gathered = self.gathered[outcome.label]
            gathered.failure = gathered.failure or outcome.failure
            if outcome.providers:
                gathered.providers, gathered.threads = outcome.providers, outcome.threads
                gathered.threads_from = outcome.threads_from
            gathered.versions = outcome.versions or gathered.versions
            gathered.io = outcome.io or gathered.io
            if number and outcome.rss_bytes is not None:
                gathered.rss_bytes.append(outcome.rss_bytes)
        for answer in answers:
            self.take(answer)

    def facts(self, candidate: Candidate) -> dict[str, Any]:
        """Return the fields that the runs of every kind have."""
        gathered = self.gathered[candidate.label]
        return {
            "label": candidate.label,
            "config": candidate.config,
            "providers": gathered.providers,
            "threads": gathered.threads,
            "threads_from": gathered.threads_from,
            "rss_bytes": tuple(gathered.rss_bytes),
            "failure": gathered.failure,
            "preparation": candidate.preparation,
        }

    def agreement(self) -> tuple[OutputAgreement, ...]:
        """Compare the outputs of each candidate with the baseline's, but those of a net that is another."""
        baseline, *others = self.candidates
        expected, again = self.gathered[baseline.label].outputs, self.gathered[baseline.label].again
        rows: list[OutputAgreement] = []
        for candidate in others:
            outputs = self.gathered[candidate.label].outputs
            if expected is not None and outputs is not None:
                repeat = None if again is None else read_values(again)
                rows += agreement_of(
                    self.compared, baseline, candidate, read_values(expected), outputs, repeat
                )
        return tuple(rows)

    def criteria(self, pairs: tuple[Pair, ...]) -> Criteria:
        """Return what the pairs of a candidate are judged by."""
        return Criteria(self.compared.smallest_effect, population_of([pairs]))

    def verdict(
        self, label: str, pairs: tuple[Pair, ...], agreement: Sequence[OutputAgreement], failure: str | None
    ) -> Verdict:
        """Return the final verdict about a candidate."""
        return judge(label, pairs, agreement, self.criteria(pairs), final=True, failure=failure)
