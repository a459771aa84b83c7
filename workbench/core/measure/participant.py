"""One worker process of a round: it is asked, and what it says goes into its outcome, a failure included."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from workbench.core.bundle.run import Block, Failure, ProcessRecord, Stage
from workbench.core.errors import RunFailed, WorkerError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.limits import Limits
from workbench.core.worker import log
from workbench.core.worker.launch import Worker
from workbench.core.worker.protocol import Message


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


@dataclass(slots=True)
class Outcome:
    """What one process of a round said; it grows while the round runs."""

    label: str
    round: int = 0
    record: ProcessRecord | None = None  # of a round of blocks, if it was finished
    answers: list[TaskAnswer] = field(default_factory=list)  # of a round of tasks
    failure: Failure | None = None
    available: tuple[str, ...] = ()  # providers that this ORT was built with
    providers: tuple[str, ...] = ()
    nodes_on: dict[str, int] | None = None  # how many nodes each provider took; None: not known
    threads: int | None = None
    threads_from: tuple[str, ...] = ()  # empty: not known
    io: Literal["run", "binding"] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    log_text: str = ""
    was_frozen: bool = True  # whether the process was frozen while others were measured
    outputs: Path | None = None
    cores: Sequence[int] = ()  # that its calling thread can be held to, best first
    warmup_s: tuple[float, ...] = ()
    blocks: list[Block] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)  # further fields of its record, by name
    rss_bytes: int | None = None  # at the end


@dataclass(slots=True)
class Participant:
    """The worker process of one candidate in a round."""

    worker: Worker
    candidate: Candidate
    outcome: Outcome
    limits: Limits
    cancel: threading.Event | None

    @contextmanager
    def attempt(self, stage: Stage) -> Iterator[None]:
        """Record a failure of the step inside; the other configs continue."""
        try:
            self.worker.thaw()
            yield
        except (RunFailed, WorkerError) as error:
            tail = log.tail(self.worker.log_text())
            self.outcome.failure = Failure(stage, error.problem, error.fix, tail)
            self.worker.close()

    def ask(self, kind: str, stage: str, **body: Any) -> Message:
        """Send a command to the worker and wait for the answer."""
        limit_s = self.limits.run_s
        return self.worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=self.cancel)

    def greet(self) -> None:
        """Wait until the worker is ready."""
        hello = self.worker.hello(timeout_s=self.limits.start_s, cancel=self.cancel)
        self._note(hello, "spawn_s", "import_s")
        self.outcome.versions = hello["versions"]

    def load(self) -> None:
        """Make the session."""
        body = {"model": str(self.candidate.model), "plan": dict(self.candidate.plan)}
        limit_s = self.limits.load_s
        answer = self.worker.request("load", body, stage="load", timeout_s=limit_s, cancel=self.cancel).body
        self._note(answer, "load_s", "rss_start_bytes", "rss_loaded_bytes")
        self.outcome.providers = tuple(answer["providers"])
        self.outcome.nodes_on = answer.get("nodes_on")
        self.outcome.threads = answer["threads"]
        self.outcome.threads_from = tuple(answer.get("threads_from", ()))
        self.outcome.available = tuple(answer.get("available", ()))

    def first_run(self) -> None:
        """Run the model once on all feeds."""
        answer = self.ask("first_run", "first run", feeds=str(self.candidate.feeds)).body
        self._note(answer, "first_run_s", "feeds")
        self.outcome.io = answer["io"]

    def write_outputs(self, folder: Path) -> None:
        """Write the outputs of the model into a file of the folder."""
        path = folder / f"{self.worker.name}.outputs"
        self.ask("outputs", "outputs", path=str(path))
        self.outcome.outputs = path

    def finish(self) -> None:
        """Ask the worker what it says of itself at the end."""
        answer = self.ask("usage", "run").body
        self._note(answer, "peak_rss_bytes")
        self.outcome.rss_bytes = answer["rss_bytes"]
        self.outcome.providers = tuple(answer["providers"])

    def _note(self, answer: dict[str, Any], *names: str) -> None:
        self.outcome.figures |= {name: answer[name] for name in names}
