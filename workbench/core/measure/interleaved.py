"""A round of tasks: fresh processes, each task in one of them while all others are frozen."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.run import Stage
from workbench.core.errors import ConfigError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.participant import Participant, ProcessRound


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """One request to the process of one candidate."""

    label: str
    name: str  # what progress says
    kind: str  # the command
    body: Mapping[str, Any]
    subject: object = None  # what the caller knows the task by


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """The answer to a task, and what other programs did meanwhile."""

    task: WorkerTask
    round: int
    order: int
    body: Mapping[str, Any]
    payload: bytes
    others_cpu_s: float | None
    disturbed: tuple[str, ...]


class InterleavedRound(ProcessRound):
    """One round of tasks."""

    def run(
        self,
        candidates: Sequence[Candidate],
        tasks: Sequence[WorkerTask],
        open_more: Callable[[Participant], None],
    ) -> list[TaskAnswer]:
        """Start a process for each candidate, do the tasks in a random order, and end the processes.

        `open_more` prepares a process after its session was made, such as with further sessions.
        """
        answers: list[TaskAnswer] = []
        for candidate in candidates:
            decodes = candidate.engine == "genai" and all(task.kind == "decode" for task in tasks)
            if candidate.engine is not None and not decodes:
                raise ConfigError(
                    f"{candidate.label} runs on {candidate.engine}; this needs sessions of ONNX Runtime",
                    "compare it with wb.compare, or leave that config out",
                )
        with ExitStack() as stack:
            self.start(stack, candidates)
            for participant in self.shuffled(self.participants):
                self.on_step(f"{participant.outcome.label}: load")
                steps: tuple[tuple[Stage, Callable[[Participant], None]], ...] = (
                    ("load", Participant.greet),
                    ("load", Participant.load),
                    ("provider", self.check_provider),
                    ("load", open_more),
                )
                for stage, work in steps:
                    if participant.outcome.failure is None:
                        with participant.attempt(stage):
                            work(participant)
                participant.worker.freeze()
            for task in self.shuffled(tasks):
                for participant in self.alive():
                    if participant.outcome.label == task.label:
                        self.on_step(f"{task.label}: {task.name}")
                        answers += self._answers(participant, task, len(answers))
            for participant in self.alive():
                with participant.attempt("run"):
                    participant.finish()
        return answers

    def _answers(self, participant: Participant, task: WorkerTask, order: int) -> list[TaskAnswer]:
        """Do a task; return its answer, or nothing if the process failed."""
        watch, began, answer = self.surroundings.watch, time.perf_counter(), None
        before = watch.read()
        with participant.attempt("run"):
            answer = participant.ask(task.kind, "run", **task.body)
        after = watch.read()
        wall_s = time.perf_counter() - began
        participant.worker.freeze()
        if answer is None:
            return []
        delay_s = None  # callers wait for each other's cores
        others_s, _, disturbed = self.interference(
            before, after, wall_s=wall_s, run_delay_s=delay_s, threads=None
        )
        return [TaskAnswer(task, self.number, order, answer.body, answer.payload, others_s, disturbed)]
