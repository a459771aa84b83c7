"""How long the rounds may take: a budget that holds a few rounds of an interval gets shorter ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.bundle.run import ProcessRecord
from workbench.core.measure.blocks import WARM_UP_BOUND_S, WARM_UP_FLOOR_RUNS
from workbench.core.measure.pairs import MIN_CLEAN_CYCLES

_SHARES = tuple(twentieths / 20 for twentieths in range(20, 3, -1))
"""Of the warm-up and of the sampling; less than a fifth measures a process that is cold."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The expected time of a round, and the share of its warm-up and sampling that it gets."""

    round_s: float
    share: float = 1.0


def shortened(round_s: float, processes: Sequence[ProcessRecord], room_s: float) -> Pace:
    """Return the pace at which a round like that of these processes takes no more than the room.

    Starting and loading take as long as before. A pace whose round is longer than the room does not fit.
    """
    usual_s = sum(_flexible_s(process, 1.0) for process in processes)
    paces = [
        Pace(round_s + sum(_flexible_s(process, share) for process in processes) - usual_s, share)
        for share in _SHARES
    ]
    return next((pace for pace in paces if pace.round_s <= room_s), paces[-1])


def _flexible_s(process: ProcessRecord, share: float) -> float:
    """Return how long the warm-up and the sampling of a process take at most with a share of their time.

    Either ends with a whole run or cycle, so it takes up to one more than it is given. A warm-up that is
    steady before its bound takes no less.
    """
    runs, cycles = max(1, len(process.warmup_s)), max(1, len(process.blocks) // 2)
    warm_up_s, sampled_s = sum(process.warmup_s), sum(block.wall_s for block in process.blocks)
    if share == 1.0:
        return warm_up_s + sampled_s
    warm_up_at_most_s = max(WARM_UP_BOUND_S * share, WARM_UP_FLOOR_RUNS * warm_up_s / runs) + warm_up_s / runs
    sampled_at_most_s = max(share, MIN_CLEAN_CYCLES / cycles) * sampled_s + sampled_s / cycles
    return min(warm_up_s, warm_up_at_most_s) + min(sampled_s, sampled_at_most_s)
