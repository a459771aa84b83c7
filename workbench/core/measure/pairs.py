"""One number per pair of processes, derived from blocks: the only unit of independent evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal, TypeAlias

from workbench.core.bundle.run import Block, Population, ProcessRecord, Run
from workbench.core.measure.regime import MIN_ROUNDS

Clock: TypeAlias = Literal["wall", "cpu"]
Cycle: TypeAlias = tuple[tuple[Block, ...], tuple[Block, ...]]

LEAST_S = 1e-9  # no run is shorter than a tick of the clock, whatever an untrusted record claims

MIN_CLEAN_CYCLES = 2  # cycles of A B B A: fewer would rest on a single moment
CLEAN_SHARE = 0.25
"""Share of the rounds: with fewer clean ones the verdict uses all cycles. Where load comes and goes, the
clean rounds of a minute decide sooner than all of them do: rounds without load scatter by a percent, some of
the others by tens (`python -m benchmarks.recorded`).
"""
FASTEST_SHARE = 1 / 3  # of a block's passes: what others do to a machine makes runs slower, never faster
TYPICAL_SHARE = 0.75  # a latency by itself: free of the interrupted tail only


@dataclass(frozen=True, slots=True)
class Pair:
    """One round of baseline and candidate: log(A's time / B's time), over clean cycles and over all."""

    round: int
    log_ratio: float | None  # None: too few clean cycles
    log_ratio_all: float  # over all cycles, disturbed ones included
    cycles: int
    clean_cycles: int

    def of(self, population: Population) -> float | None:
        """Return the log ratio over the cycles that count."""
        return self.log_ratio_all if population == "all" else self.log_ratio


def pairs_of(
    baseline: Run, candidate: Run, clock: Clock = "wall", known: Mapping[int, Pair] | None = None
) -> tuple[Pair, ...]:
    """Return one pair for every round in which both processes were measured; `known` are earlier ones."""
    known = known or {}
    partners = {process.round: process for process in candidate.processes}
    return tuple(
        known.get(process.round) or pair_of(process, partners[process.round], clock)
        for process in baseline.processes
        if process.round in partners and process.blocks and partners[process.round].blocks
    )


def pair_of(first: ProcessRecord, second: ProcessRecord, clock: Clock = "wall") -> Pair:
    """Return the log ratio of the typical latencies; a cycle is clean if none of its blocks was disturbed."""
    cycles, clean = cycles_of(first, second)
    log_ratio: float | None
    if clock == "cpu":
        log_ratio = log_ratio_all = _processor_log_ratio(cycles)  # load does not change processor time
    else:
        log_ratio_all = log_ratio_over(cycles, first.feeds)
        log_ratio = log_ratio_over(clean, first.feeds) if len(clean) >= MIN_CLEAN_CYCLES else None
    return Pair(first.round, log_ratio, log_ratio_all, cycles=len(cycles), clean_cycles=len(clean))


def cycle_log_ratios(first: ProcessRecord, second: ProcessRecord, clock: Clock = "wall") -> list[float]:
    """Return one log ratio for each cycle of a round, for a provisional interval before the first look."""
    cycles, clean = cycles_of(first, second)
    if clock == "cpu":
        return [_processor_log_ratio([cycle]) for cycle in cycles]
    chosen = clean if len(clean) >= MIN_CLEAN_CYCLES else cycles
    return [log_ratio_over([cycle], first.feeds) for cycle in chosen]


def population_of(candidates: Iterable[Sequence[Pair]]) -> Population:
    """Return which blocks count: the undisturbed ones if enough rounds have them.

    The choice depends on the scheduler's figures alone, so it cannot favor a result.
    """
    for pairs in candidates:
        clean = sum(pair.log_ratio is not None for pair in pairs)
        if clean < min(len(pairs), MIN_ROUNDS) or clean < CLEAN_SHARE * len(pairs):
            return "all"
    return "undisturbed"


def typical_s(samples_s: Iterable[float], share: float = TYPICAL_SHARE) -> float:
    """Return the mean of the fastest samples, by default of three quarters, rounded up."""
    ordered = sorted(samples_s)
    return fmean(ordered[: math.ceil(share * len(ordered))])


def log_ratio_over(cycles: Iterable[Cycle], feeds: int) -> float:
    """Return the median over neighbouring blocks of the log ratio of the means of their fastest passes.

    Neighbours share what the machine does at that moment: a slower clock or a busy core meets both.
    """
    return median(
        log_ratio_of(_passes_s(first, feeds), _passes_s(second, feeds))
        for cycle in cycles
        for first, second in zip(*cycle, strict=False)  # a stranger's record may end with half a cycle
    )


def log_ratio_of(first_s: Iterable[float], second_s: Iterable[float]) -> float:
    """Return the log ratio of the means of the fastest passes of either block."""
    first, second = typical_s(first_s, FASTEST_SHARE), typical_s(second_s, FASTEST_SHARE)
    return math.log(max(first, LEAST_S) / max(second, LEAST_S))


def _passes_s(block: Block, feeds: int) -> Sequence[float]:
    """Return the time of each pass over the feeds: the fastest runs alone would be those of short feeds."""
    if feeds == 1:
        return block.samples_s
    starts = range(0, len(block.samples_s), feeds)
    return [sum(block.samples_s[start : start + feeds]) for start in starts]


def _processor_log_ratio(cycles: Sequence[Cycle]) -> float:
    """Return the median over cycles of the log ratio of processor time per run."""
    log_ratios = []
    for cycle in cycles:
        first_s, second_s = (
            fmean((block.own_cpu_s or 0.0) / len(block.samples_s) for block in blocks) for blocks in cycle
        )
        log_ratios.append(math.log(max(first_s, LEAST_S) / max(second_s, LEAST_S)))
    return median(log_ratios)


def cycles_of(first: ProcessRecord, second: ProcessRecord) -> tuple[list[Cycle], list[Cycle]]:
    """Return the cycles of two blocks a side, in the order measured, and those without a disturbed block."""
    count = min(len(first.blocks), len(second.blocks))
    cycles = [(first.blocks[at : at + 2], second.blocks[at : at + 2]) for at in range(0, count, 2)]
    clean = [cycle for cycle in cycles if not any(block.disturbed for side in cycle for block in side)]
    return cycles, clean
