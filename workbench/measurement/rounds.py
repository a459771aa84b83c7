"""One round: a fresh process for each config, measured in short alternating blocks, all others frozen."""

from __future__ import annotations

import random
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, TypeVar

from workbench.errors import RunFailed, WorkerError
from workbench.measurement import interference
from workbench.measurement.candidate import Candidate
from workbench.measurement.disturbance import reasons
from workbench.measurement.limits import Limits
from workbench.measurement.participant import Outcome, Participant
from workbench.records.run import Block, Failure, Stage
from workbench.worker import log
from workbench.worker.launch import Worker
from workbench.worker.protocol import Message

_T = TypeVar("_T")

BLOCK_S = 0.010  # shorter blocks scatter less, longer ones waste less: see docs/measuring.md
LEAD_IN_S = 0.010  # a run this soon after thawing is notably slower
LEAST_RUNS = 6  # a block holds this many, so that its lead-in costs little
MAX_RUNS_A_BLOCK = 500
MIN_CYCLES = 3
PATIENCE = 1.5  # times the sampling time that a disturbed round waits for clean cycles
WARM_UP_FLOOR_S = 0.04
WARM_UP_FLOOR_RUNS = 4
WARM_UP_BOUND_S = 1.5

StartWorker = Callable[..., Worker]  # the constructor of Worker, or of a fake one in tests


@dataclass(frozen=True, slots=True)
class Setup:
    """The constants of all rounds of a comparison."""

    folder: Path
    usable_cores: int
    pacing_s: float | None = None
    sampling_s: float = 0.5  # for all configs together
    block_s: float = BLOCK_S
    waits_for_clean: bool = True  # sample longer until enough cycles are clean
    limits: Limits = field(default_factory=Limits)


class Round:
    """One round. `began` is the comparison's start, so that blocks of all rounds share one time axis."""

    def __init__(
        self,
        setup: Setup,
        number: int,
        *,
        rng: random.Random,
        watch: interference.Watch,
        began: float,
        cancel: threading.Event | None = None,
        on_step: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.perf_counter,
        start_worker: StartWorker = Worker,
    ) -> None:
        self._setup = setup
        self._number = number
        self._rng = rng
        self._watch = watch
        self._began = began
        self._cancel = cancel
        self._on_step = on_step
        self._clock = clock
        self._start_worker = start_worker
        self._participants: list[Participant] = []
        self._awake: Participant | None = None  # the one that is not frozen while all sample
        self._continues = False  # whether its block follows one of its own

    def run(self, candidates: Sequence[Candidate], *, with_outputs: bool) -> list[Outcome]:
        """Measure these configs together and return their outcomes."""
        with ExitStack() as stack:
            for candidate in candidates:
                self._participants.append(self._participant(stack, candidate))
            for participant in self._participants:
                self._attempt(participant, "start", self._greet)
            steps: tuple[tuple[Stage, Callable[[Participant], None]], ...] = (
                ("load", self._load),
                ("first run", lambda participant: self._first_run(participant, with_outputs)),
                ("warm-up", self._warm_up),
            )
            for stage, work in steps:
                for participant in self._shuffled():
                    self._on_step(f"{participant.outcome.label}: {stage}")
                    self._attempt(participant, stage, work)
                    participant.worker.freeze()
            self._on_step("sampling")
            self._sample()
            if self._awake is not None:
                self._awake.worker.freeze()
            for participant in self._shuffled():
                self._attempt(participant, "run", self._finish)
            for participant in self._participants:
                participant.outcome.log_text = participant.worker.log_text()
                participant.outcome.was_frozen = participant.worker.can_freeze
                participant.worker.kill()  # all at once: a large model takes a while to leave memory
        return [participant.outcome for participant in self._participants]

    def _participant(self, stack: ExitStack, candidate: Candidate) -> Participant:
        name = f"{candidate.label}-{self._number}-{self._rng.getrandbits(24):06x}"
        start = self._start_worker if candidate.engine is None else partial(Worker, engine=candidate.engine)
        worker = start(
            self._setup.folder,
            name=name,
            python=candidate.interpreter,
            memory_bytes=self._setup.limits.memory_bytes,
        )
        return Participant(stack.enter_context(worker), candidate, Outcome(candidate.label))

    def _shuffled(self) -> list[Participant]:
        alive = [participant for participant in self._participants if participant.outcome.failure is None]
        self._rng.shuffle(alive)
        return alive

    def _attempt(
        self, participant: Participant, stage: Stage, work: Callable[[Participant], _T]
    ) -> _T | None:
        """Run one step and record a failure; the other configs continue."""
        try:
            participant.worker.thaw()
            return work(participant)
        except (RunFailed, WorkerError) as error:
            tail = log.tail(participant.worker.log_text())
            participant.outcome.failure = Failure(stage, error.problem, error.fix, tail)
            participant.worker.close()
            return None

    def _greet(self, participant: Participant) -> None:
        hello = participant.worker.hello(timeout_s=self._setup.limits.start_s, cancel=self._cancel)
        participant.spawn_s, participant.import_s = hello["spawn_s"], hello["import_s"]
        participant.outcome.versions = hello["versions"]

    def _ask(self, participant: Participant, kind: str, stage: str, **body: Any) -> Message:
        limit_s = self._setup.limits.load_s if kind == "load" else self._setup.limits.run_s
        return participant.worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=self._cancel)

    def _load(self, participant: Participant) -> None:
        model, plan = str(participant.candidate.model), dict(participant.candidate.plan)
        participant.loaded = self._ask(participant, "load", "load", model=model, plan=plan).body
        participant.outcome.providers = tuple(participant.loaded["providers"])
        participant.outcome.threads = participant.loaded["threads"]

    def _first_run(self, participant: Participant, with_outputs: bool) -> None:
        feeds = str(participant.candidate.feeds)
        first = self._ask(participant, "first_run", "first run", feeds=feeds).body
        participant.first_run_s, participant.outcome.io = first["first_run_s"], first["io"]
        participant.feeds = first["feeds"]
        if with_outputs:
            path = self._setup.folder / f"{participant.worker.name}.outputs"
            self._ask(participant, "outputs", "outputs", path=str(path))
            participant.outcome.outputs = path

    def _warm_up(self, participant: Participant) -> None:
        answer = self._ask(
            participant,
            "warm_up",
            "warm-up",
            floor_s=WARM_UP_FLOOR_S,
            bound_s=WARM_UP_BOUND_S,
            floor_runs=WARM_UP_FLOOR_RUNS,
            pacing_s=self._setup.pacing_s,
        )
        participant.warmup_s, participant.steady = _seconds(answer.payload), bool(answer.body["steady"])

    def _sample(self) -> None:
        """Run cycles of A B B A (order drawn anew each time) until enough are clean or time runs out."""
        began = self._clock()
        cycles = clean = 0
        while len(alive := self._shuffled()) > 0:
            cycle = alive + alive[::-1]
            clean += self._cycle(cycle) or not self._setup.waits_for_clean
            cycles += 1
            spent_s = self._clock() - began
            enough = clean if spent_s < PATIENCE * self._setup.sampling_s else cycles
            if spent_s >= self._setup.sampling_s and enough >= MIN_CYCLES:
                return

    def _cycle(self, cycle: Sequence[Participant]) -> bool:
        """Run a block of each participant; return whether the cycle was clean.

        The load is read once per cycle: a reading around each block would take as long as the block.
        """
        before = self._watch.read()
        blocks = []
        for participant in cycle:
            self._wake(participant)
            blocks.append((participant, self._block(participant)))
        after = self._watch.read()
        answered = [(participant, block) for participant, block in blocks if block is not None]
        if len(answered) < len(cycle):
            return False
        wall_s = sum(block.wall_s for _, block in answered)
        delays_s = [block.run_delay_s for _, block in answered if block.run_delay_s is not None]
        others_s = interference.others_cpu_s(before, after, self._own_threads())
        window_s = wall_s if before is None or after is None else max(after.at - before.at, wall_s)
        disturbed = reasons(
            wall_s=wall_s,
            window_s=window_s,
            run_delay_s=sum(delays_s) if delays_s else None,
            others_cpu_s=others_s,
            threads=_most_threads(participant.outcome.threads for participant in cycle),
            usable_cores=self._setup.usable_cores,
        )
        for participant, block in answered:
            others = None if others_s is None else others_s * block.wall_s / window_s
            order = sum(len(other.blocks) for other in self._participants)
            participant.blocks.append(replace(block, order=order, others_cpu_s=others, disturbed=disturbed))
        return not disturbed

    def _wake(self, participant: Participant) -> None:
        """Freeze all others; a participant that has two blocks in a row stays awake between them."""
        self._continues = participant is self._awake
        if self._awake is not None and not self._continues:
            self._awake.worker.freeze()
        self._awake = participant

    def _block(self, participant: Participant) -> Block | None:
        """Run one block of one process; return None on failure."""
        if participant.outcome.failure is not None:
            return None
        start_s = self._clock() - self._began
        answer = self._attempt(participant, "run", self._run_block)
        if answer is None:
            return None
        delay_ns = answer.body["run_delay_ns"]
        return Block(
            order=0,
            start_s=start_s,
            wall_s=answer.body["wall_ns"] / 1e9,
            samples_s=_seconds(answer.payload),
            own_cpu_s=answer.body["cpu_ns"] / 1e9,
            run_delay_s=None if delay_ns is None else delay_ns / 1e9,
            others_cpu_s=None,
            disturbed=(),
        )

    def _own_threads(self) -> frozenset[int]:
        """Return the threads of this round's workers (frozen ones use no CPU time) and this thread."""
        workers = (interference.threads_of(participant.worker.pid) for participant in self._participants)
        return frozenset({interference.this_thread()}).union(*workers)

    def _run_block(self, participant: Participant) -> Message:
        run_s = median(participant.warmup_s[len(participant.warmup_s) // 2 :])
        short = run_s <= LEAD_IN_S and self._setup.pacing_s is None
        return self._ask(
            participant,
            "block",
            "run",
            seconds=max(self._setup.block_s, LEAST_RUNS * run_s) if short else self._setup.block_s,
            min_runs=1,
            max_runs=MAX_RUNS_A_BLOCK,
            pacing_s=self._setup.pacing_s,
            slow_down=participant.candidate.slow_down,
            lead_in=int(short and not self._continues),
        )

    def _finish(self, participant: Participant) -> None:
        participant.finish(self._number, self._ask(participant, "usage", "run").body)


def _seconds(payload: bytes) -> tuple[float, ...]:
    return tuple(sample / 1e9 for sample in array("q", payload))


def _most_threads(counts: Iterable[int | None]) -> int | None:
    """Return the largest thread count of any participant; None if one is unknown."""
    known = list(counts)
    return max(count for count in known if count is not None) if None not in known else None
