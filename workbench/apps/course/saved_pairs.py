"""Twelve pairs of processes whose true ratio is known, because they were drawn."""

from __future__ import annotations

import random
from dataclasses import dataclass
from statistics import median_high

from workbench.core.bundle.display import to_table

PAIRS = 12
_SAMPLES = 40  # of each process
TRUE_RATIO = 1.02  # A's time over B's
TYPICAL_MS = 5.0
PAIR_SCATTER = 0.02  # from pair to pair: memory layout, clock rate, neighbours
SAMPLE_SCATTER = 0.01


@dataclass(frozen=True, slots=True)
class SavedPair:
    """Latencies of one process of A and of its partner of B, in milliseconds."""

    a_ms: tuple[float, ...]
    b_ms: tuple[float, ...]


class SavedPairs(tuple[SavedPair, ...]):
    """The pairs, displayed as a table of medians."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{len(self)} pairs of {_SAMPLES} samples each"

    def _repr_html_(self) -> str:
        rows = [
            (number, f"{median_high(pair.a_ms):.3f}", f"{median_high(pair.b_ms):.3f}")
            for number, pair in enumerate(self, 1)
        ]
        return to_table(("pair", "median of A (ms)", "median of B (ms)"), rows, repr(self))


def saved_pairs(seed: int = 20) -> SavedPairs:
    """Return twelve drawn pairs: B is 1.02 times faster, and processes differ from each other by 2 %.

    >>> from workbench import course
    >>> len(course.saved_pairs())
    12
    """
    draw = random.Random(seed)
    pairs = []
    for _ in range(PAIRS):
        level = TYPICAL_MS * draw.lognormvariate(0, 0.05)  # the machine's mood, the same for both
        pairs.append(
            SavedPair(
                _process(draw, level * TRUE_RATIO * draw.lognormvariate(0, PAIR_SCATTER)),
                _process(draw, level * draw.lognormvariate(0, PAIR_SCATTER)),
            )
        )
    return SavedPairs(pairs)


def _process(draw: random.Random, typical_ms: float) -> tuple[float, ...]:
    return tuple(typical_ms * draw.lognormvariate(0, SAMPLE_SCATTER) for _ in range(_SAMPLES))
