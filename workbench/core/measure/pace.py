"""How long the rounds may take: a budget that holds a few rounds of an interval gets shorter ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.core.bundle.run import ProcessRecord
from workbench.core.measure.pairs import MIN_CLEAN_CYCLES
from workbench.core.measure.rounds import WARM_UP_FLOOR_RUNS

_LEAST_SHARE = 0.2  # of the warm-up and of the sampling; less than that measures a process that is cold


@dataclass(frozen=True, slots=True)
class Pace:
    """The expected time of a round, and the share of its warm-up and sampling that it gets."""

    round_s: float
    share: float = 1.0


def shortened(round_s: float, processes: Sequence[ProcessRecord], room_s: float) -> Pace:
    """Return the pace at which a round like that of these processes takes no more than the room.

    Starting and loading take as long as before. A pace whose round is longer than the room does not fit.
    """
    parts = [part for process in processes for part in _parts(process)]
    flexible_s = sum(time_s for time_s, _, _ in parts)
    steps_s = sum(step_s for _, step_s, _ in parts)
    fixed_s = max(0.0, round_s - flexible_s)

    def at(share: float) -> Pace:
        times_s = (time_s * min(1.0, max(share, least)) for time_s, _, least in parts)
        return Pace(fixed_s + steps_s + sum(times_s), share)

    wanted = (room_s - fixed_s - steps_s) / flexible_s if flexible_s else 1.0
    pace = at(min(1.0, max(_LEAST_SHARE, wanted)))
    return pace if pace.round_s <= room_s else at(_LEAST_SHARE)


def _parts(process: ProcessRecord) -> tuple[tuple[float, float, float], ...]:
    """Return the time of the warm-up and of the sampling, that of a run or a cycle, and their least share.

    Either ends with a whole run or cycle, so it takes up to one more than it is given.
    """
    runs, cycles = max(1, len(process.warmup_s)), max(1, len(process.blocks) // 2)
    warm_up_s, sampled_s = sum(process.warmup_s), sum(block.wall_s for block in process.blocks)
    return (
        (warm_up_s, warm_up_s / runs, WARM_UP_FLOOR_RUNS / runs),
        (sampled_s, sampled_s / cycles, MIN_CLEAN_CYCLES / cycles),
    )
