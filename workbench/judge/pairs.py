"""From blocks to one number a process pair: the only unit that counts as independent evidence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from workbench.records.run import Block, ProcessRecord, Run

MIN_CLEAN_CYCLES = 2  # of A B B A: fewer would rest on a single moment


@dataclass(frozen=True, slots=True)
class Pair:
    """One round of baseline and candidate: log(A's time / B's time), and what was set aside for it."""

    round: int
    log_ratio: float | None  # None: too few clean cycles
    log_ratio_all: float  # over all cycles, the disturbed ones too
    cycles: int
    clean_cycles: int


def pairs_of(baseline: Run, candidate: Run) -> tuple[Pair, ...]:
    """A pair for every round in which both processes were measured."""
    partners = {process.round: process for process in candidate.processes}
    return tuple(
        pair_of(process, partners[process.round])
        for process in baseline.processes
        if process.round in partners and process.blocks and partners[process.round].blocks
    )


def pair_of(first: ProcessRecord, second: ProcessRecord) -> Pair:
    """The median over the cycles of the log ratio of their blocks."""
    ratios, clean = [], []
    for ours, theirs in zip(_cycles(first.blocks), _cycles(second.blocks), strict=False):
        ratio = _mean_log(ours) - _mean_log(theirs)
        ratios.append(ratio)
        if not any(block.disturbed for block in (*ours, *theirs)):
            clean.append(ratio)
    return Pair(
        round=first.round,
        log_ratio=median(clean) if len(clean) >= MIN_CLEAN_CYCLES else None,
        log_ratio_all=median(ratios),
        cycles=len(ratios),
        clean_cycles=len(clean),
    )


def _cycles(blocks: Sequence[Block]) -> list[tuple[Block, ...]]:
    """Blocks come two a cycle, in the order measured."""
    return [tuple(blocks[start : start + 2]) for start in range(0, len(blocks), 2)]


def _mean_log(blocks: Sequence[Block]) -> float:
    return sum(math.log(max(block.median_s, 1e-9)) for block in blocks) / len(blocks)
