"""From blocks to one number a pair of processes: the only unit that counts as independent evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from workbench.records.run import Block, ProcessRecord, Run

MIN_CLEAN_CYCLES = 2  # of A B B A: fewer would rest on a single moment
FASTEST_SHARE = 0.75
"""The typical latency is the mean of the fastest three quarters of the samples. It sees more of them than the
median does and leaves out the same interrupted tail: on identical configs of five models its ratio scatters
by 0.9 % from pair to pair, that of medians by 1.2 %, that of plain means by 3 %."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One round of baseline and candidate: log(A's time / B's time), over clean cycles and over all."""

    round: int
    log_ratio: float | None  # None: too few clean cycles
    log_ratio_all: float  # over all cycles, the disturbed ones too
    cycles: int
    clean_cycles: int


def pairs_of(baseline: Run, candidate: Run) -> tuple[Pair, ...]:
    """Return a pair for every round in which both processes were measured."""
    partners = {process.round: process for process in candidate.processes}
    return tuple(
        pair_of(process, partners[process.round])
        for process in baseline.processes
        if process.round in partners and process.blocks and partners[process.round].blocks
    )


def pair_of(first: ProcessRecord, second: ProcessRecord) -> Pair:
    """Return the log ratio of the typical latencies; a cycle is clean if no block of either was disturbed."""
    cycles = list(zip(_cycles(first.blocks), _cycles(second.blocks), strict=False))
    clean = [cycle for cycle in cycles if not any(block.disturbed for side in cycle for block in side)]
    return Pair(
        round=first.round,
        log_ratio=_log_ratio(clean) if len(clean) >= MIN_CLEAN_CYCLES else None,
        log_ratio_all=_log_ratio(cycles),
        cycles=len(cycles),
        clean_cycles=len(clean),
    )


def typical_s(samples_s: Iterable[float]) -> float:
    """Return the mean of the fastest three quarters, rounded up."""
    ordered = sorted(samples_s)
    return fmean(ordered[: math.ceil(FASTEST_SHARE * len(ordered))])


def _log_ratio(cycles: Sequence[tuple[Sequence[Block], Sequence[Block]]]) -> float:
    ours, theirs = (
        typical_s(sample for cycle in cycles for block in cycle[side] for sample in block.samples_s)
        for side in (0, 1)
    )
    return math.log(max(ours, 1e-9) / max(theirs, 1e-9))


def _cycles(blocks: Sequence[Block]) -> list[Sequence[Block]]:
    """Return the blocks two a cycle, in the order measured."""
    return [blocks[start : start + 2] for start in range(0, len(blocks), 2)]
