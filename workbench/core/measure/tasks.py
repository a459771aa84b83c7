"""A round of tasks: each in one of the fresh processes, in a random order, while all others are frozen."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from workbench.core.errors import ConfigError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.outcomes import TaskAnswer, WorkerTask
from workbench.core.measure.rounds import Participant, Round, Step


def check_engines(candidates: Sequence[Candidate], tasks: Sequence[WorkerTask]) -> None:
    """Refuse an engine that has no such task."""
    for candidate in candidates:
        decodes = candidate.engine == "genai" and all(task.kind == "decode" for task in tasks)
        if candidate.engine is not None and not decodes:
            raise ConfigError(
                f"{candidate.label} runs on {candidate.engine}; this needs sessions of ONNX Runtime",
                "compare it with wb.compare, or leave that config out",
            )


@dataclass(slots=True, kw_only=True)
class TaskRound(Round):
    """One round of tasks."""

    tasks: Sequence[WorkerTask]
    open: Callable[[Participant], None]  # prepares a process after its session was made

    def steps(self) -> Iterator[Sequence[Step]]:
        """Yield all steps at once: a process is opened as a whole before the next one is."""
        yield ("load", Participant.load), ("provider", self.check_provider), ("load", self.open)

    def measure(self) -> None:
        """Do the tasks of the processes that opened."""
        order = 0
        for task in self.shuffled(self.tasks):
            for participant in self.alive():
                if participant.outcome.label == task.label:
                    self.on_step(f"{task.label}: {task.name}")
                    order += self._do(participant, task, order)
        for participant in self.alive():
            with participant.attempt("run"):
                participant.finish()

    def _do(self, participant: Participant, task: WorkerTask, order: int) -> bool:
        """Do a task and keep its answer; return whether there is one."""
        watch, began, answer = self.surroundings.watch, time.perf_counter(), None
        before = watch.read()
        with participant.attempt("run"):
            answer = participant.ask(task.kind, "run", **task.body)
        after = watch.read()
        wall_s = time.perf_counter() - began
        participant.worker.freeze()
        if answer is None:
            return False
        delay_s = None  # callers wait for each other's cores
        others_s, _, disturbed = self.interference(
            before, after, wall_s=wall_s, run_delay_s=delay_s, threads=None
        )
        participant.outcome.answers.append(
            TaskAnswer(task, self.number, order, answer.body, answer.payload, others_s, disturbed)
        )
        return True
