"""The worker processes of one round: each is started, asked and frozen, and its failure ends it alone."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from workbench.core.bundle.run import Block, Failure, ProcessRecord, Stage
from workbench.core.errors import RunFailed, WorkerError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.interference import LoadReading, disturbances, others_cpu_s, threads_of
from workbench.core.measure.limits import Limits
from workbench.core.measure.providers import asked_for, not_run, took_nodes
from workbench.core.measure.surroundings import Surroundings
from workbench.core.worker import log
from workbench.core.worker.launch import Worker
from workbench.core.worker.protocol import Message

T = TypeVar("T")


@dataclass(slots=True)
class Outcome:
    """The results of one process in a round; they grow while the round runs."""

    label: str
    record: ProcessRecord | None = None
    failure: Failure | None = None
    providers: tuple[str, ...] = ()
    nodes_on: dict[str, int] | None = None  # how many nodes each provider took; None: not known
    threads: int | None = None
    threads_from: tuple[str, ...] = ()  # empty: not known
    io: Literal["run", "binding"] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    log_text: str = ""
    was_frozen: bool = True  # whether the process was frozen while others were measured
    outputs: Path | None = None
    rss_bytes: int | None = None  # at the end


@dataclass(slots=True)
class Participant:
    """The worker of one candidate in this round, with its answers so far."""

    worker: Worker
    candidate: Candidate
    outcome: Outcome
    limits: Limits
    cancel: threading.Event | None
    available: tuple[str, ...] = ()  # providers that this ORT was built with
    warmup_s: tuple[float, ...] = ()
    cores: Sequence[int] = ()  # that its calling thread can be held to, best first
    measured: dict[str, Any] = field(default_factory=dict)  # further fields of the record
    blocks: list[Block] = field(default_factory=list)

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
        self.measured |= {name: hello[name] for name in ("spawn_s", "import_s")}
        self.outcome.versions = hello["versions"]

    def load(self) -> None:
        """Make the session."""
        body = {"model": str(self.candidate.model), "plan": dict(self.candidate.plan)}
        limit_s = self.limits.load_s
        answer = self.worker.request("load", body, stage="load", timeout_s=limit_s, cancel=self.cancel).body
        self.measured |= {name: answer[name] for name in ("load_s", "rss_start_bytes", "rss_loaded_bytes")}
        self.outcome.providers = tuple(answer["providers"])
        self.outcome.nodes_on = answer.get("nodes_on")
        self.outcome.threads = answer["threads"]
        self.outcome.threads_from = tuple(answer.get("threads_from", ()))
        self.available = tuple(answer.get("available", ()))

    def finish(self) -> dict[str, Any]:
        """Return what the worker says of itself at the end."""
        end: dict[str, Any] = self.ask("usage", "run").body
        self.outcome.rss_bytes = end.get("rss_bytes")
        return end

    def finish_record(self, number: int) -> None:
        """Put the record of this round into the outcome."""
        end = self.finish()
        self.outcome.providers = tuple(end["providers"])
        self.outcome.record = ProcessRecord(
            round=number,
            warmup_s=self.warmup_s,
            blocks=tuple(self.blocks),
            rss_bytes=end["rss_bytes"],
            peak_rss_bytes=end["peak_rss_bytes"],
            **self.measured,
        )


@dataclass(slots=True)
class ProcessRound:
    """A round of fresh processes: their start, their order, and the machine use of others meanwhile."""

    surroundings: Surroundings
    limits: Limits
    number: int
    rng: random.Random
    on_step: Callable[[str], None] = lambda _: None
    participants: list[Participant] = field(default_factory=list, init=False)

    def start(self, stack: ExitStack, candidates: Iterable[Candidate]) -> None:
        """Start a process for each candidate."""
        for candidate in candidates:
            start = self.surroundings.start_worker
            if candidate.engine is not None:
                start = partial(Worker, engine=candidate.engine)
            worker = start(
                self.surroundings.folder,
                name=f"{candidate.label}-{self.number}-{self.rng.getrandbits(24):06x}",
                python=candidate.interpreter,
                memory_bytes=self.limits.memory_bytes,
            )
            outcome, cancel = Outcome(candidate.label), self.surroundings.cancel
            self.participants.append(
                Participant(stack.enter_context(worker), candidate, outcome, self.limits, cancel)
            )

    @property
    def outcomes(self) -> list[Outcome]:
        """Return the outcome of each candidate."""
        return [participant.outcome for participant in self.participants]

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
                available=participant.available,
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
