"""A round of tasks: fresh processes, each task in one of them while all others are frozen."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.errors import ConfigError, RunFailed, WorkerError
from workbench.measurement import interference
from workbench.measurement.candidate import Candidate
from workbench.measurement.disturbance import reasons
from workbench.measurement.limits import Limits
from workbench.measurement.rounds import StartWorker
from workbench.records.run import Failure, Stage
from workbench.worker import log
from workbench.worker.launch import Worker

Ask = Callable[..., Any]  # (kind, stage, **body) to the answer of a worker


@dataclass(frozen=True, slots=True)
class Task:
    """One request to the process of one candidate."""

    label: str
    name: str  # what progress says
    kind: str  # the command
    body: Mapping[str, Any]
    subject: object = None  # what the caller knows the task by


@dataclass(frozen=True, slots=True)
class TaskAnswer:
    """The answer to a task, and what other programs did meanwhile."""

    task: Task
    round: int
    order: int
    body: Mapping[str, Any]
    payload: bytes
    others_cpu_s: float | None
    disturbed: tuple[str, ...]


@dataclass(slots=True)
class Process:
    """The worker of one candidate in a round, with what it said of itself."""

    worker: Worker
    candidate: Candidate
    versions: dict[str, str] = field(default_factory=dict)
    loaded: dict[str, Any] = field(default_factory=dict)
    opened: dict[str, Any] = field(default_factory=dict)
    usage: dict[str, Any] = field(default_factory=dict)
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class InterleavedSetup:
    """The constants of all rounds."""

    folder: Path
    usable_cores: int
    limits: Limits
    watch: interference.Watch
    cancel: threading.Event | None = None
    start_worker: StartWorker = Worker


class InterleavedRound:
    """One round. `open_more` prepares a process after its first run, such as with further sessions."""

    def __init__(
        self,
        setup: InterleavedSetup,
        number: int,
        rng: random.Random,
        open_more: Callable[[Process, Ask], dict[str, Any]],
        on_step: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._setup = setup
        self._number = number
        self._rng = rng
        self._open_more = open_more
        self._on_step = on_step
        self.answers: list[TaskAnswer] = []

    def run(self, candidates: Sequence[Candidate], tasks: Sequence[Task]) -> list[Process]:
        """Start a process for each candidate, do the tasks in a random order, and end the processes."""
        with ExitStack() as stack:
            processes = {candidate.label: self._process(stack, candidate) for candidate in candidates}
            for process in self._shuffled(list(processes.values())):
                self._on_step(f"{process.candidate.label}: load")
                self._attempt(process, "load", lambda process=process: self._open(process))  # type: ignore[misc]
                process.worker.freeze()
            for task in self._shuffled(list(tasks)):
                if task.label in processes and processes[task.label].failure is None:
                    self._on_step(f"{task.label}: {task.name}")
                    self._do(processes[task.label], task, list(processes.values()))
            for process in processes.values():
                if process.failure is None:
                    self._attempt(process, "run", lambda process=process: self._finish(process))  # type: ignore[misc]
            return list(processes.values())

    def _process(self, stack: ExitStack, candidate: Candidate) -> Process:
        if candidate.engine is not None:
            raise ConfigError(
                f"{candidate.label} runs on {candidate.engine}; this needs sessions of ONNX Runtime",
                "compare it with wb.compare, or leave that config out",
            )
        worker = self._setup.start_worker(
            self._setup.folder,
            name=f"{candidate.label}-{self._number}-{self._rng.getrandbits(24):06x}",
            python=candidate.interpreter,
            memory_bytes=self._setup.limits.memory_bytes,
        )
        return Process(stack.enter_context(worker), candidate)

    def _shuffled(self, items: list[Any]) -> list[Any]:
        self._rng.shuffle(items)
        return items

    def _attempt(self, process: Process, stage: Stage, work: Callable[[], Any]) -> Any:
        """Do one step; a failure ends this process only."""
        try:
            process.worker.thaw()
            return work()
        except (RunFailed, WorkerError) as error:
            process.failure = Failure(stage, error.problem, error.fix, log.tail(process.worker.log_text()))
            process.worker.close()
            return None

    def _ask(self, process: Process) -> Ask:
        limits = self._setup.limits

        def ask(kind: str, stage: str, **body: Any) -> Any:
            limit_s = limits.load_s if kind == "load" else limits.run_s
            return process.worker.request(
                kind, body, stage=stage, timeout_s=limit_s, cancel=self._setup.cancel
            )

        return ask

    def _open(self, process: Process) -> None:
        hello = process.worker.hello(timeout_s=self._setup.limits.start_s, cancel=self._setup.cancel)
        process.versions = hello["versions"]
        ask, candidate = self._ask(process), process.candidate
        process.loaded = ask("load", "load", model=str(candidate.model), plan=dict(candidate.plan)).body
        process.opened = self._open_more(process, ask)

    def _finish(self, process: Process) -> None:
        process.usage = self._ask(process)("usage", "run").body

    def _do(self, process: Process, task: Task, processes: Sequence[Process]) -> None:
        watch, began = self._setup.watch, time.perf_counter()
        before = watch.read()
        answer = self._attempt(process, "run", lambda: self._ask(process)(task.kind, "run", **task.body))
        after = watch.read()
        wall_s = time.perf_counter() - began
        process.worker.freeze()
        if answer is None:
            return
        ours = (interference.threads_of(other.worker.pid) for other in processes)
        others_s = interference.others_cpu_s(
            before, after, frozenset({interference.this_thread()}).union(*ours)
        )
        disturbed = reasons(
            wall_s=wall_s,
            window_s=wall_s if before is None or after is None else max(after.at - before.at, wall_s),
            run_delay_s=None,  # callers wait for each other's cores
            others_cpu_s=others_s,
            threads=None,
            usable_cores=self._setup.usable_cores,
        )
        self.answers.append(
            TaskAnswer(
                task, self._number, len(self.answers), answer.body, answer.payload, others_s, disturbed
            )
        )
