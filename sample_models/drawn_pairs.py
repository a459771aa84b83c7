"""Latencies of pairs of processes whose ratio is known: what a comparison is to find, drawn."""

from __future__ import annotations

import random
from statistics import median_high
from typing import NamedTuple

PAIRS = 12
_SAMPLES = 40  # of each process
TRUE_RATIO = 1.02  # A's time over B's
TYPICAL_MS = 5.0
PAIR_SCATTER = 0.02  # from pair to pair: memory layout, clock rate, neighbours
SAMPLE_SCATTER = 0.01


class SavedPair(NamedTuple):
    """Latencies of one process of A and of its partner of B, in milliseconds."""

    a_ms: tuple[float, ...]
    b_ms: tuple[float, ...]


class SavedPairs(tuple[SavedPair, ...]):
    """The pairs, displayed as a table of medians."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{len(self)} pairs of {_SAMPLES} samples each"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{number}</td><td>{median_high(pair.a_ms):.3f}</td><td>{median_high(pair.b_ms):.3f}</td></tr>"
            for number, pair in enumerate(self, 1)
        )
        heads = "<tr><th>pair</th><th>median of A (ms)</th><th>median of B (ms)</th></tr>"
        return f"<table><caption>{self!r}</caption><thead>{heads}</thead><tbody>{rows}</tbody></table>"


def saved_pairs(seed: int = 20) -> SavedPairs:
    """Return twelve drawn pairs: B is 1.02 times faster, and processes differ from each other by 2 %.

    >>> from workbench import course
    >>> len(course.saved_pairs())
    12
    """
    draw = random.Random(seed)

    def process(level_ms: float) -> tuple[float, ...]:
        typical_ms = level_ms * draw.lognormvariate(0, PAIR_SCATTER)
        return tuple(typical_ms * draw.lognormvariate(0, SAMPLE_SCATTER) for _ in range(_SAMPLES))

    # The machine's mood is the same for both processes of a pair.
    levels_ms = (TYPICAL_MS * draw.lognormvariate(0, 0.05) for _ in range(PAIRS))
    return SavedPairs(SavedPair(process(level * TRUE_RATIO), process(level)) for level in levels_ms)
