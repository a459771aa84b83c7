"""A round of blocks: short ones in the order A B B A, drawn anew each time, while all others are frozen."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from workbench.core.bundle.run import Block, ProcessRecord
from workbench.core.measure.outcomes import Outcome
from workbench.core.measure.rounds import Participant, Round, Step
from workbench.core.worker.protocol import Message

BLOCK_S = 0.010  # shorter blocks scatter less, longer ones waste less: see docs/measuring-evidence.md
LEAD_IN_S = 0.010  # a run this soon after thawing is notably slower
LEAST_RUNS = 6  # a block with a lead-in holds this many, so that it costs little
MAX_RUNS_A_BLOCK = 500
MIN_CYCLES = 3
PATIENCE = 1.5  # times the sampling time that a disturbed round waits for clean cycles
WARM_UP_FLOOR_S = 0.04
WARM_UP_FLOOR_RUNS = 4
WARM_UP_BOUND_S = 1.5


@dataclass(slots=True, kw_only=True)
class BlockRound(Round):
    """One round of blocks. `began` is the start of all rounds, so that their blocks share one time axis."""

    began: float
    with_outputs: bool = False  # keep what the model gives, to compare it
    pacing_s: float | None = None
    sampling_s: float = 0.5  # for all configs together
    waits_for_clean: bool = True  # sample longer until enough cycles are clean
    is_busy: bool = False  # no cycle is clean: more rounds are worth more than longer ones
    warm_up_s: float = WARM_UP_BOUND_S  # of each process at most
    least_cycles: int = MIN_CYCLES
    awake: Participant | None = field(default=None, init=False)  # the one not frozen while all sample
    continues: bool = field(default=False, init=False)  # whether its block follows one of its own
    core: int | None = field(default=None, init=False)  # that all calling threads are held to
    leads_in: bool = field(default=False, init=False)  # blocks begin with a run that does not count

    def steps(self) -> Iterator[Sequence[Step]]:
        """Yield step by step: all processes take each before any takes the next one."""
        yield (("load", Participant.load),)
        yield (("provider", self.check_provider),)
        for step in (("first run", self._first_run), ("warm-up", self._warm_up)):
            if not self._is_pointless():
                yield (step,)

    def measure(self) -> None:
        """Sample the processes that are warm."""
        if self._is_pointless():
            return
        self.on_step("sampling")
        self._sample()
        if self.awake is not None:
            self.awake.worker.freeze()
        for participant in self.shuffled(self.alive()):
            with participant.attempt("run"):
                participant.finish()
                participant.outcome.record = self._record(participant.outcome)

    def _is_pointless(self) -> bool:
        """Return whether one config is left alone, since the others did not run on their provider."""
        failures = [participant.outcome.failure for participant in self.participants]
        elsewhere = any(failure is not None and failure.stage == "provider" for failure in failures)
        return elsewhere and len(self.alive()) == 1

    def _first_run(self, participant: Participant) -> None:
        participant.first_run()
        if self.with_outputs:
            participant.write_outputs(self.surroundings.folder)

    def _warm_up(self, participant: Participant) -> None:
        answer = participant.ask(
            "warm_up",
            "warm-up",
            floor_s=WARM_UP_FLOOR_S,
            bound_s=self.warm_up_s,
            floor_runs=WARM_UP_FLOOR_RUNS,
            pacing_s=self.pacing_s,
        )
        participant.outcome.warmup_s = seconds_of(answer.payload)
        participant.outcome.figures["steady"] = bool(answer.body["steady"])
        participant.outcome.cores = answer.body["cores"]

    def _record(self, outcome: Outcome) -> ProcessRecord:
        return ProcessRecord(
            round=self.number,
            warmup_s=outcome.warmup_s,
            blocks=tuple(outcome.blocks),
            rss_bytes=outcome.rss_bytes,
            **outcome.figures,
        )

    def _sample(self) -> None:
        """Run cycles of A B B A (order drawn anew each time) until enough are clean or time runs out."""
        began, alive = self.surroundings.clock(), self.alive()
        self.core = _shared_core([participant.outcome.cores for participant in alive], self.number)
        # For all or for none, else first runs after thawing would speak against one config. Beside other
        # programs these get their cores at once, and the runs behind them wait for theirs by turns.
        is_short = self.pacing_s is None and all(_run_s(participant) <= LEAD_IN_S for participant in alive)
        self.leads_in = is_short and not self.is_busy
        cycles = clean = 0
        while alive := self.shuffled(self.alive()):
            cycle = alive + alive[::-1]
            clean += self._cycle(cycle) or self.is_busy or not self.waits_for_clean
            cycles += 1
            spent_s = self.surroundings.clock() - began
            enough = clean if spent_s < PATIENCE * self.sampling_s else cycles
            if spent_s >= self.sampling_s and enough >= self.least_cycles:
                return

    def _cycle(self, cycle: Sequence[Participant]) -> bool:
        """Run a block of each participant; return whether the cycle was clean.

        The load is read once per cycle: a reading around each block would take as long as the block.
        """
        before = self.surroundings.watch.read()
        blocks = []
        for participant in cycle:
            self._wake(participant)
            blocks.append((participant, self._block(participant)))
        after = self.surroundings.watch.read()
        answered = [(participant, block) for participant, block in blocks if block is not None]
        if len(answered) < len(cycle):
            return False
        wall_s = sum(block.wall_s for _, block in answered)
        delays_s = [block.run_delay_s for _, block in answered if block.run_delay_s is not None]
        others_s, window_s, disturbed = self.interference(
            before,
            after,
            wall_s=wall_s,
            run_delay_s=sum(delays_s) if delays_s else None,
            threads=_most_threads(participant.outcome.threads for participant in cycle),
        )
        for participant, block in answered:
            others = None if others_s is None else others_s * block.wall_s / window_s
            order = sum(len(other.outcome.blocks) for other in self.participants)
            measured = replace(block, order=order, others_cpu_s=others, disturbed=disturbed)
            participant.outcome.blocks.append(measured)
        return not disturbed

    def _wake(self, participant: Participant) -> None:
        """Freeze all others; a participant that has two blocks in a row stays awake between them."""
        self.continues = participant is self.awake
        if self.awake is not None and not self.continues:
            self.awake.worker.freeze()
        self.awake = participant

    def _block(self, participant: Participant) -> Block | None:
        """Run one block of one process; return None on failure."""
        if participant.outcome.failure is not None:
            return None
        start_s = self.surroundings.clock() - self.began
        answer = None
        for other in self.alive():
            other.outcome.was_frozen &= other is participant or other.worker.is_frozen
        with participant.attempt("run"):
            answer = self._run_block(participant)
        if answer is None:
            return None
        delay_ns = answer.body["run_delay_ns"]
        return Block(
            order=0,
            start_s=start_s,
            wall_s=answer.body["wall_ns"] / 1e9,
            samples_s=seconds_of(answer.payload),
            own_cpu_s=answer.body["cpu_ns"] / 1e9,
            run_delay_s=None if delay_ns is None else delay_ns / 1e9,
            others_cpu_s=None,
            disturbed=(),
        )

    def _run_block(self, participant: Participant) -> Message:
        return participant.ask(
            "block",
            "run",
            seconds=max(BLOCK_S, LEAST_RUNS * _run_s(participant)) if self.leads_in else BLOCK_S,
            min_runs=1,
            max_runs=MAX_RUNS_A_BLOCK,
            pacing_s=self.pacing_s,
            slow_down=participant.candidate.slow_down,
            lead_in=int(self.leads_in and not self.continues),
            core=self.core,
        )


def _run_s(participant: Participant) -> float:
    """Return how long a run takes once it is warm."""
    warmup_s = participant.outcome.warmup_s
    return median(warmup_s[len(warmup_s) // 2 :])


def seconds_of(payload: bytes) -> tuple[float, ...]:
    """Return the nanoseconds of an answer as seconds."""
    return tuple(sample / 1e9 for sample in array("q", payload))


def _most_threads(counts: Iterable[int | None]) -> int | None:
    """Return the largest thread count of any participant; None if one is unknown."""
    known = list(counts)
    return max(count for count in known if count is not None) if None not in known else None


def _shared_core(choices: Sequence[Sequence[int]], turn: int) -> int | None:
    """Return a core that all can use, the best for each config in turn; None: the system places each thread.

    Beside a busy core one process may share it for seconds while its partner has the other to itself. A
    config that is measured alone has no partner to be compared with.
    """
    if len(choices) < 2:
        return None
    best = choices[turn % len(choices)]
    return next((core for core in best if all(core in cores for cores in choices)), None)
