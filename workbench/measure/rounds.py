"""One round: a fresh process for each config, measured in short alternating blocks, all others frozen."""

from __future__ import annotations

import random
import sys
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Literal, TypeVar

from workbench.errors import RunFailed, WorkerError
from workbench.measure import interference
from workbench.measure.disturbance import reasons
from workbench.measure.limits import Limits
from workbench.records.run import Block, Failure, ProcessRecord, Stage
from workbench.worker import log
from workbench.worker.launch import Worker
from workbench.worker.protocol import Message

_T = TypeVar("_T")

BLOCK_S = 0.020  # short blocks scatter least (MEASURING: 0.24 to 0.9 % at 20 ms, 0.5 to 1.1 % at 100 ms)
MAX_FLOOR_RUNS_A_BLOCK = 3
FLOOR_S_A_BLOCK = 0.060  # a slow model gets fewer runs a block: the block is the unit, not the run
MAX_RUNS_A_BLOCK = 500
MIN_CYCLES = 3
PATIENCE = 3  # times the sampling time that a disturbed round waits for clean cycles
WARM_UP_FLOOR_S = 0.06
WARM_UP_FLOOR_RUNS = 4
WARM_UP_BOUND_S = 1.5


@dataclass(frozen=True, slots=True)
class Setup:
    """What stays the same over all rounds of a comparison."""

    labels: tuple[str, ...]
    models: tuple[Path, ...]  # one a config, as are plans and feeds
    plans: tuple[dict[str, Any], ...]
    feeds: tuple[Path, ...]
    folder: Path
    usable_cores: int
    pacing_s: float | None = None
    sampling_s: float = 0.5  # for all configs together
    block_s: float = BLOCK_S
    slow_downs: tuple[float, ...] = ()  # planted by benchmarks.honesty: a share of each run, one a config
    limits: Limits = field(default_factory=Limits)
    interpreters: tuple[str, ...] = ()  # of the workers, one a config; empty: ours for all


@dataclass(slots=True)
class Outcome:
    """What one process of a round gave; it grows while the round runs."""

    label: str
    record: ProcessRecord | None = None
    failure: Failure | None = None
    providers: tuple[str, ...] = ()
    threads: int | None = None
    io: Literal["run", "binding"] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    log_text: str = ""
    stood_still: bool = True  # whether it could be frozen while the others were measured
    outputs: Path | None = None


class Round:
    """Runs one round. `began` is the comparison's start, so that blocks of all rounds share one time axis."""

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
    ) -> None:
        self._setup = setup
        self._number = number
        self._rng = rng
        self._watch = watch
        self._began = began
        self._cancel = cancel
        self._on_step = on_step
        self._seats: list[_Seat] = []

    def run(self, members: Sequence[int], *, with_outputs: bool) -> list[Outcome]:
        """Measure the configs at these positions together."""
        with ExitStack() as stack:
            for member in members:
                self._seats.append(self._seat(stack, member))
            for seat in self._seats:
                self._attempt(seat, "start", self._greet)
            steps: tuple[tuple[Stage, Callable[[_Seat], None]], ...] = (
                ("load", self._load),
                ("first run", lambda seat: self._first_run(seat, with_outputs)),
                ("warm-up", self._warm_up),
            )
            for step, work in steps:
                for seat in self._shuffled():
                    self._on_step(f"{seat.outcome.label}: {step}")
                    self._attempt(seat, step, work)
                    seat.worker.freeze()
            self._on_step("sampling")
            self._sample()
            for seat in self._shuffled():
                self._attempt(seat, "run", self._finish)
            for seat in self._seats:
                seat.outcome.log_text = seat.worker.log_text()
                seat.outcome.stood_still = seat.worker.can_freeze
                seat.worker.kill()  # all at once: a large model takes a while to leave memory
        return [seat.outcome for seat in self._seats]

    def _seat(self, stack: ExitStack, member: int) -> _Seat:
        label = self._setup.labels[member]
        name = f"{label}-{self._number}-{self._rng.getrandbits(24):06x}"
        python = self._setup.interpreters[member] if self._setup.interpreters else sys.executable
        worker = stack.enter_context(Worker(self._setup.folder, name=name, python=python))
        slow_down = self._setup.slow_downs[member] if self._setup.slow_downs else 0.0
        return _Seat(worker, member, slow_down, Outcome(label))

    def _shuffled(self) -> list[_Seat]:
        alive = [seat for seat in self._seats if seat.outcome.failure is None]
        self._rng.shuffle(alive)
        return alive

    def _attempt(self, seat: _Seat, stage: Stage, work: Callable[[_Seat], _T]) -> _T | None:
        """A config that fails is a record; the others go on."""
        try:
            seat.worker.thaw()
            return work(seat)
        except (RunFailed, WorkerError) as error:
            tail = log.tail(seat.worker.log_text())
            seat.outcome.failure = Failure(stage, error.problem, error.fix, tail)
            seat.worker.close()
            return None

    def _greet(self, seat: _Seat) -> None:
        hello = seat.worker.hello(timeout_s=self._setup.limits.start_s, cancel=self._cancel)
        seat.spawn_s, seat.import_s = hello["spawn_s"], hello["import_s"]
        seat.outcome.versions = hello["versions"]

    def _ask(self, seat: _Seat, kind: str, stage: str, **body: Any) -> Message:
        limit_s = self._setup.limits.load_s if kind == "load" else self._setup.limits.run_s
        return seat.worker.request(kind, body, stage=stage, timeout_s=limit_s, cancel=self._cancel)

    def _load(self, seat: _Seat) -> None:
        model, plan = str(self._setup.models[seat.member]), self._setup.plans[seat.member]
        seat.loaded = self._ask(seat, "load", "load", model=model, plan=plan).body
        seat.outcome.providers = tuple(seat.loaded["providers"])
        seat.outcome.threads = seat.loaded["threads"]

    def _first_run(self, seat: _Seat, with_outputs: bool) -> None:
        first = self._ask(seat, "first_run", "first run", feeds=str(self._setup.feeds[seat.member])).body
        seat.first_run_s, seat.outcome.io = first["first_run_s"], first["io"]
        if with_outputs:
            path = self._setup.folder / f"{seat.worker.name}.outputs"
            self._ask(seat, "outputs", "outputs", path=str(path))
            seat.outcome.outputs = path

    def _warm_up(self, seat: _Seat) -> None:
        answer = self._ask(
            seat,
            "warm_up",
            "warm-up",
            floor_s=WARM_UP_FLOOR_S,
            bound_s=WARM_UP_BOUND_S,
            floor_runs=WARM_UP_FLOOR_RUNS,
            pacing_s=self._setup.pacing_s,
        )
        seat.warmup_s, seat.steady = _seconds(answer.payload), bool(answer.body["steady"])

    def _sample(self) -> None:
        """Cycles of A B B A (drawn anew each time) until there are enough clean ones or the time is up."""
        began = time.perf_counter()
        cycles = clean = 0
        while len(alive := self._shuffled()) > 0:
            cycle = alive + alive[::-1]
            undisturbed = [self._block(seat) for seat in cycle]
            clean += all(undisturbed)
            cycles += 1
            spent_s = time.perf_counter() - began
            sampling_s = self._setup.sampling_s
            if spent_s >= sampling_s and clean >= MIN_CYCLES:
                return
            if spent_s >= PATIENCE * sampling_s and cycles >= MIN_CYCLES:
                return

    def _block(self, seat: _Seat) -> bool:
        """One block of one process; True when nothing disturbed it."""
        if seat.outcome.failure is not None:
            return False
        before = self._watch.read()
        start_s = time.perf_counter() - self._began
        answer = self._attempt(seat, "run", self._run_block)
        seat.worker.freeze()
        after = self._watch.read()
        if answer is None:
            return False
        wall_s = answer.body["wall_ns"] / 1e9
        delay_ns = answer.body["run_delay_ns"]
        run_delay_s = None if delay_ns is None else delay_ns / 1e9
        others_s = interference.others_cpu_s(before, after, self._ours())
        disturbed = reasons(
            wall_s=wall_s,
            window_s=after.at - before.at if before is not None and after is not None else wall_s,
            run_delay_s=run_delay_s,
            others_cpu_s=others_s,
            threads=seat.outcome.threads,
            usable_cores=self._setup.usable_cores,
        )
        seat.blocks.append(
            Block(
                order=sum(len(other.blocks) for other in self._seats),
                start_s=start_s,
                wall_s=wall_s,
                samples_s=_seconds(answer.payload),
                own_cpu_s=answer.body["cpu_ns"] / 1e9,
                run_delay_s=run_delay_s,
                others_cpu_s=others_s,
                disturbed=disturbed,
            )
        )
        return not disturbed

    def _ours(self) -> frozenset[int]:
        """Threads that are no others: all workers of the round (the frozen ones stand still) and this one."""
        workers = (interference.threads_of(seat.worker.pid) for seat in self._seats)
        return frozenset({interference.this_thread()}).union(*workers)

    def _run_block(self, seat: _Seat) -> Message:
        return self._ask(
            seat,
            "block",
            "run",
            seconds=self._setup.block_s,
            min_runs=_runs_a_block(seat.warmup_s),
            max_runs=MAX_RUNS_A_BLOCK,
            pacing_s=self._setup.pacing_s,
            slow_down=seat.slow_down,
        )

    def _finish(self, seat: _Seat) -> None:
        end = self._ask(seat, "usage", "run").body
        seat.outcome.providers = tuple(end["providers"])
        seat.outcome.record = ProcessRecord(
            round=self._number,
            spawn_s=seat.spawn_s,
            import_s=seat.import_s,
            load_s=seat.loaded["load_s"],
            first_run_s=seat.first_run_s,
            warmup_s=seat.warmup_s,
            steady=seat.steady,
            blocks=tuple(seat.blocks),
            rss_start_bytes=seat.loaded["rss_start_bytes"],
            rss_loaded_bytes=seat.loaded["rss_loaded_bytes"],
            rss_bytes=end["rss_bytes"],
            peak_rss_bytes=end["peak_rss_bytes"],
        )


@dataclass(slots=True)
class _Seat:
    """A worker at the table, with what it said so far."""

    worker: Worker
    member: int  # position among the configs
    slow_down: float
    outcome: Outcome
    spawn_s: float = 0.0
    import_s: float = 0.0
    loaded: dict[str, Any] = field(default_factory=dict)
    first_run_s: float = 0.0
    warmup_s: tuple[float, ...] = ()
    steady: bool = False
    blocks: list[Block] = field(default_factory=list)


def _seconds(payload: bytes) -> tuple[float, ...]:
    nanoseconds = array("q")
    nanoseconds.frombytes(payload)
    return tuple(sample / 1e9 for sample in nanoseconds)


def _runs_a_block(warmup_s: tuple[float, ...]) -> int:
    run_s = median(warmup_s[len(warmup_s) // 2 :])
    return max(1, min(MAX_FLOOR_RUNS_A_BLOCK, round(FLOOR_S_A_BLOCK / max(run_s, 1e-9))))
