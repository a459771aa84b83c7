"""A round: a fresh process for each config, all taken through the same steps and measured in turns.

What a process says goes into its outcome, a failure included.
"""

from __future__ import annotations

import random
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from workbench.core.bundle.run import Failure, Stage
from workbench.core.errors import RunFailed, WorkerError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.interference import LoadReading, disturbances, others_cpu_s, threads_of
from workbench.core.measure.limits import Limits
from workbench.core.measure.outcomes import Outcome
from workbench.core.measure.providers import asked_for, not_run, took_nodes
from workbench.core.measure.surroundings import Surroundings
from workbench.core.worker import log
from workbench.core.worker.launch import Worker
from workbench.core.worker.protocol import Message

T = TypeVar("T")


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


Step: TypeAlias = tuple[Stage, Callable[[Participant], None]]


@dataclass(slots=True)
class Round(ABC):
    """One round. Subclasses say which steps lead to the measurement, and in which order it is made.

    A process is frozen while another one works. One that fails ends alone, with the reason in its outcome.
    """

    surroundings: Surroundings
    limits: Limits
    number: int
    rng: random.Random
    on_step: Callable[[str], None] = lambda _: None
    participants: list[Participant] = field(default_factory=list, init=False)

    @abstractmethod
    def steps(self) -> Iterator[Sequence[Step]]:
        """Yield the steps after the start of a process; those of one tuple follow each other at once."""

    @abstractmethod
    def measure(self) -> None:
        """Measure the processes that are alive, and finish them."""

    def run(self, candidates: Sequence[Candidate]) -> list[Outcome]:
        """Start a process for each candidate, measure them, and end them; return what each one said."""
        with ExitStack() as stack:
            for candidate in candidates:
                self._start(stack, candidate)
            for participant in self.participants:
                with participant.attempt("start"):
                    participant.greet()
            for steps in self.steps():
                for participant in self.shuffled(self.alive()):
                    self.on_step(f"{participant.outcome.label}: {steps[0][0]}")
                    for stage, work in steps:
                        if participant.outcome.failure is None:
                            with participant.attempt(stage):
                                work(participant)
                    participant.worker.freeze()
            self.measure()
            for participant in self.participants:
                participant.outcome.log_text = participant.worker.log_text()
                participant.outcome.was_frozen &= participant.worker.can_freeze
                participant.worker.kill()  # all at once: a large model takes a while to leave memory
        return [participant.outcome for participant in self.participants]

    def _start(self, stack: ExitStack, candidate: Candidate) -> None:
        start = self.surroundings.start_worker
        if candidate.engine is not None:
            start = partial(Worker, engine=candidate.engine)
        worker = start(
            self.surroundings.folder,
            name=f"{candidate.label}-{self.number}-{self.rng.getrandbits(24):06x}",
            python=candidate.interpreter,
            memory_bytes=self.limits.memory_bytes,
        )
        outcome, cancel = Outcome(candidate.label, self.number), self.surroundings.cancel
        self.participants.append(
            Participant(stack.enter_context(worker), candidate, outcome, self.limits, cancel)
        )

    def check_provider(self, participant: Participant) -> None:
        """Raise RunFailed where no node of the session is on a provider that was asked for."""
        candidate, outcome = participant.candidate, participant.outcome
        asked = asked_for(candidate.config)
        if candidate.engine is not None or candidate.allow_fallback or not asked:
            return
        if not took_nodes(asked, outcome.providers, outcome.nodes_on):
            raise not_run(
                asked,
                outcome.providers,
                outcome.nodes_on,
                available=outcome.available,
                log_text=participant.worker.log_text(),
                machine=self.surroundings.machine,
                python=candidate.interpreter,
            )

    def alive(self) -> list[Participant]:
        """Return those that have not failed."""
        return [participant for participant in self.participants if participant.outcome.failure is None]

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """Return the items in a random order."""
        shuffled = list(items)
        self.rng.shuffle(shuffled)
        return shuffled

    def interference(
        self,
        before: LoadReading | None,
        after: LoadReading | None,
        *,
        wall_s: float,
        run_delay_s: float | None,
        threads: int | None,
    ) -> tuple[float | None, float, tuple[str, ...]]:
        """Return the CPU time of others between two readings, the time between, and why it disturbs.

        Our own are the workers' threads (frozen ones use no CPU time) and this thread.
        """
        workers = (threads_of(participant.worker.pid) for participant in self.participants)
        ours = frozenset({threading.get_native_id()}).union(*workers)
        others_s = others_cpu_s(before, after, ours)
        window_s = wall_s if before is None or after is None else max(after.at - before.at, wall_s)
        disturbed = disturbances(
            wall_s=wall_s,
            window_s=window_s,
            run_delay_s=run_delay_s,
            others_cpu_s=others_s,
            threads=threads,
            usable_cores=self.surroundings.machine.usable_cores,
        )
        return others_s, window_s, disturbed
