"""A config against itself: what single processes say, and what pairs of processes say."""

from __future__ import annotations

from math import inf
from statistics import fmean
from typing import TYPE_CHECKING

import workbench as wb
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import counted
from workbench.drawing.exportable import DrawnTable, dots

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, Verdict

NOTABLE = 0.02  # a difference that a reader would report
MOST_NAIVE = 20  # rows of the picture
SINGLE, PAIRED = "one process each", "pairs of processes"


class EqualConfigs(DrawnTable):
    """Ratios of single processes of equal configs beside intervals over pairs. Made by `equal_configs`."""

    def __init__(self, naive: tuple[float, ...], paired: tuple[Verdict, ...]) -> None:
        self.naive, self.paired = naive, paired
        single = [(f"single {number}", SINGLE, Estimate(ratio)) for number, ratio in enumerate(naive, 1)]
        pairs = [(f"paired {number}", PAIRED, Estimate.of(pair)) for number, pair in enumerate(paired, 1)]
        drawn = ((*row, row[2].words(".3f") or "no ratio") for row in (*single[:MOST_NAIVE], *pairs))
        chart = dots(("A config against itself",), "A's time over B's; A and B are the same config", drawn)
        numbers = ("ratio", "low", "high")
        rows = ((method, *size.ends) for _, method, size in (*single, *pairs))
        super().__init__(self._sentence(), chart, ("method", *numbers), rows, numbers)

    @property
    def largest_difference(self) -> float | None:
        """The largest difference of two processes, as a share of the faster one; None without ratios."""
        return max(map(_difference, self.naive), default=None)

    @property
    def notable(self) -> int:
        """How many single ratios differ by more than 2 %."""
        return sum(_difference(ratio) > NOTABLE for ratio in self.naive)

    def _sentence(self) -> str:
        if not self.naive:
            return "Too few rounds to set one process against another: measure longer."
        start = (
            f"Equal configs, one process each: {self.notable} of {counted(len(self.naive), 'ratio')} differ "
            f"by more than {100 * NOTABLE:.0f} %, at most by {100 * (self.largest_difference or 0.0):.1f} %."
        )
        intervals = [(pair.low, pair.high) for pair in self.paired if None not in (pair.low, pair.high)]
        if not intervals:
            return f"{start} No comparison had enough pairs for an interval: measure longer."
        includes = sum((low or 0.0) <= 1 <= (high or 0.0) for low, high in intervals)
        return f"{start} Pairs: {includes} of {counted(len(intervals), 'interval')} contain 1."


def equal_configs(*comparisons: wb.Comparison) -> EqualConfigs:
    """Set ratios of single processes beside the intervals of comparisons of a config with itself.

    A single ratio takes one process of A and one process of B of the next round: what a script does that
    measures A, then B, each once.

    >>> from workbench import course
    >>> str(course.equal_configs())
    'Too few rounds to set one process against another: measure longer.'
    """
    naive = [ratio for comparison in comparisons for ratio in naive_ratios(comparison.record)]
    return EqualConfigs(tuple(naive), tuple(comparison.verdict for comparison in comparisons))


def _difference(ratio: float) -> float:
    """Return by how much the slower of two processes exceeds the faster one: 1.0 of 2 and of 1/2."""
    return max(ratio, 1 / ratio) - 1 if ratio > 0 else inf


def naive_ratios(record: ComparisonRecord) -> list[float]:
    """Return mean latency of a process of A over that of the process of B in the next round."""
    means_s = []
    for run in record.runs[:2]:
        samples_s = {
            process.round: [sample for block in process.blocks for sample in block.samples_s]
            for process in run.processes
        }
        means_s.append({number: fmean(samples) for number, samples in samples_s.items() if any(samples)})
    first, second = means_s
    return [mean_s / second[number + 1] for number, mean_s in first.items() if number + 1 in second]
