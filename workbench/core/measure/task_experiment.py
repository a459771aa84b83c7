"""Experiments whose rounds are tasks: a load test, a decoding, pipelines."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.candidates import make_candidates
from workbench.core.measure.evidence import agreement_of
from workbench.core.measure.experiment import Experiment
from workbench.core.measure.outcomes import Outcomes, WorkerTask
from workbench.core.measure.pairs import Pair, population_of
from workbench.core.measure.rounds import Participant
from workbench.core.measure.surroundings import StartWorker, surroundings_here
from workbench.core.measure.tasks import TaskRound, check_engines
from workbench.core.measure.verdict import Criteria, is_enough, judge
from workbench.core.worker.launch import Worker
from workbench.core.worker.values import read_values

Record = TypeVar("Record")

_LEAST_ROUNDS = 3  # an interval needs them, whatever the budget
_MOST_ROUNDS = 12
_ROUNDS_ALONE = 5  # of one config, which needs no verdict


class TaskExperiment(Experiment, ABC, Generic[Record]):
    """A measurement in progress. Subclasses say what a round does and what its answers mean."""

    candidates: tuple[Candidate, ...]
    outcomes: Outcomes

    def measure(self, cancel: threading.Event | None, start_worker: StartWorker = Worker) -> Record:
        """Prepare the configs, run all rounds, and return the record. Raise RunFailed if none can run."""
        with surroundings_here(cancel, start_worker) as self.surroundings:
            self.began = self.surroundings.clock()
            self.candidates = self.prepared(self.surroundings.folder, self.report, cancel)
            self.outcomes = Outcomes(self.candidates)
            self.began = self.surroundings.clock()
            self.run()
            return self.record()

    def prepared(
        self, folder: Path, on_step: Callable[[str], None], cancel: threading.Event | None
    ) -> tuple[Candidate, ...]:
        """Return what takes part, ready to measure: the configs of the request."""
        return make_candidates(self.request, folder, on_step=on_step, cancel=cancel)

    @abstractmethod
    def run(self) -> None:
        """Run all rounds."""

    @abstractmethod
    def record(self) -> Record:
        """Return the record with its verdicts."""

    @abstractmethod
    def open(self, participant: Participant) -> None:
        """Prepare a process after its session was made."""

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the rounds began; 0 while configs are prepared: no budget bounds that."""
        return super().elapsed_s if self.rounds else 0.0

    def fraction(self) -> float | None:
        """Return the done share of the budget; while it is prepared nothing is known."""
        return super().fraction() if self.rounds else None

    def run_until_known(
        self,
        tasks: Callable[[Sequence[Candidate]], Sequence[WorkerTask]],
        pairs: Callable[[], Sequence[tuple[Pair, ...]]],
    ) -> None:
        """Run rounds of these tasks until the verdicts on the pairs are known, or the budget is spent."""

        def measure_all() -> None:
            self.rounds += 1
            alive = self.outcomes.alive()
            self.round(alive, tasks(alive))

        def is_last() -> bool:
            out_of_time = self.elapsed_s + self.pass_s > self.budget_s
            may_end = self.rounds >= _LEAST_ROUNDS and (out_of_time or self._is_known(pairs()))
            return may_end or self.rounds == _MOST_ROUNDS

        self.run_until(is_last, measure_all)

    def _is_known(self, pairs: Sequence[tuple[Pair, ...]]) -> bool:
        """Return whether more rounds would only confirm the verdicts; one config alone gets five."""
        if len(self.outcomes.alive()) < 2:
            return self.rounds >= _ROUNDS_ALONE
        return all(is_enough(row, self.criteria(row)) for row in pairs)

    def round(self, group: Sequence[Candidate], tasks: Sequence[WorkerTask]) -> None:
        """Do the tasks in fresh processes; a config that fails takes no part in later rounds."""
        check_engines(group, tasks)
        outcomes = TaskRound(
            self.surroundings,
            self.request.limits,
            self.rounds,
            self.rng,
            self.report,
            tasks=tasks,
            open=self.open,
        ).run(group)
        self.outcomes.add(outcomes)

    def failed(self, label: str, name: str = "") -> RunFailed | None:
        """Return the error of a candidate that failed; it begins with this name, or the model's."""
        failure = self.outcomes.failure(label)
        if failure is None:
            return None
        return RunFailed(f"{name or self.request.model_name}: {failure.problem}", failure.fix)

    def facts(self, candidate: Candidate) -> dict[str, Any]:
        """Return the fields that the runs of every kind have."""
        label = candidate.label
        latest = self.outcomes.latest(label)
        return {
            "label": label,
            "config": candidate.config,
            "providers": latest.providers,
            "threads": latest.threads,
            "threads_from": latest.threads_from,
            "rss_bytes": self.rss_bytes(label),
            "failure": self.outcomes.failure(label),
            "preparation": candidate.preparation,
        }

    def rss_bytes(self, label: str) -> tuple[int, ...]:
        """Return the memory of each process of a candidate at the end of its round."""
        outcomes = (outcome for outcome in self.outcomes.of(label) if outcome.round)
        return tuple(outcome.rss_bytes for outcome in outcomes if outcome.rss_bytes is not None)

    def agreement(self) -> tuple[OutputAgreement, ...]:
        """Compare the outputs of each candidate with the baseline's, but those of a net that is another."""
        baseline, *others = self.candidates
        written = self.outcomes.outputs(baseline.label)
        rows: list[OutputAgreement] = []
        for candidate in others:
            outputs = self.outcomes.outputs(candidate.label)
            if written and outputs:
                expected, *again = map(read_values, written[:2])
                repeat = again[0] if again else None
                rows += agreement_of(self.request, baseline, candidate, expected, outputs[0], repeat)
        return tuple(rows)

    def criteria(self, pairs: tuple[Pair, ...]) -> Criteria:
        """Return what the pairs of a candidate are judged by."""
        return Criteria(self.request.smallest_effect, population_of([pairs]))

    def verdict(
        self, label: str, pairs: tuple[Pair, ...], agreement: Sequence[OutputAgreement], failure: str | None
    ) -> Verdict:
        """Return the final verdict about a candidate."""
        return judge(label, pairs, agreement, self.criteria(pairs), final=True, failure=failure)
