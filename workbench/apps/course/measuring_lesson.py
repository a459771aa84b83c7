"""The lesson on measuring: a config against itself, twelve pairs whose ratio is known, the exercises."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import fmean, median_high
from typing import TYPE_CHECKING, Any

from workbench.apps.course.article import article_contradictions, article_tables
from workbench.apps.course.exercise import ANSWERS, exercise, wrong
from workbench.apps.course.lesson_figure import LessonFigure, dots
from workbench.core.bundle.display import to_table
from workbench.core.bundle.estimate import Estimate
from workbench.core.measure.sequential import interval
from workbench.core.text import counted, one_line

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, Verdict
    from workbench.features.compare.result import Comparison

NOTABLE = 0.02  # a difference that a reader would report
MOST_NAIVE = 20  # rows of the picture
SINGLE, PAIRED = "one process each", "pairs of processes"
PAIRS = 12
_NEAR = 0.002
MOST_NARROW = 1 / 0.7  # times: more is no rounding, but pooled samples
_SAMPLES = 40  # of each process
TRUE_RATIO = 1.02  # A's time over B's
TYPICAL_MS = 5.0
PAIR_SCATTER = 0.02  # from pair to pair: memory layout, clock rate, neighbours
SAMPLE_SCATTER = 0.01


class EqualConfigs(LessonFigure):
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
        """The largest difference of two single processes, as a share; None without ratios."""
        return max((abs(ratio - 1) for ratio in self.naive), default=None)

    @property
    def notable(self) -> int:
        """How many single ratios are more than 2 % from 1."""
        return sum(abs(ratio - 1) > NOTABLE for ratio in self.naive)

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


def equal_configs(*comparisons: Comparison) -> EqualConfigs:
    """Set ratios of single processes beside the intervals of comparisons of a config with itself.

    A single ratio takes one process of A and one process of B of the next round: what a script does that
    measures A, then B, each once.

    >>> from workbench import course
    >>> str(course.equal_configs())
    'Too few rounds to set one process against another: measure longer.'
    """
    naive = [ratio for comparison in comparisons for ratio in naive_ratios(comparison.record)]
    return EqualConfigs(tuple(naive), tuple(comparison.verdict for comparison in comparisons))


def naive_ratios(record: ComparisonRecord) -> list[float]:
    """Return mean latency of a process of A over that of the process of B in the next round."""
    baseline, candidate = record.runs[0], record.runs[1]
    later = {process.round: process for process in candidate.processes}
    pairs = ((process, later.get(process.round + 1)) for process in baseline.processes)
    means = ((_mean_s(first), _mean_s(second)) for first, second in pairs if second is not None)
    return [first_s / second_s for first_s, second_s in means if first_s and second_s]


def _mean_s(process: Any) -> float | None:
    samples_s = [sample for block in process.blocks for sample in block.samples_s]
    return sum(samples_s) / len(samples_s) if samples_s else None


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

    def process(level_ms: float) -> tuple[float, ...]:
        typical_ms = level_ms * draw.lognormvariate(0, PAIR_SCATTER)
        return tuple(typical_ms * draw.lognormvariate(0, SAMPLE_SCATTER) for _ in range(_SAMPLES))

    # The machine's mood is the same for both processes of a pair.
    levels_ms = (TYPICAL_MS * draw.lognormvariate(0, 0.05) for _ in range(PAIRS))
    return SavedPairs(SavedPair(process(level * TRUE_RATIO), process(level)) for level in levels_ms)


@exercise("1.a")
def interval_of_pairs(answer: Any) -> str | None:
    """Check (ratio, low, high) of the saved pairs against Student's t over one number a pair."""
    try:
        ratio, low, high = (float(number) for number in answer)
    except (TypeError, ValueError, OverflowError):
        return wrong("1.a", "no three numbers")
    if not low < ratio < high:
        return wrong("1.a", "outside")
    log_ratios = [math.log(fmean(pair.a_ms) / fmean(pair.b_ms)) for pair in saved_pairs()]
    right = interval(log_ratios, error=0.05)
    assert right is not None
    right_ratio, right_low, right_high = map(math.exp, (right.middle, right.low, right.high))
    if max(abs(low - right_low), abs(high - right_high)) <= _NEAR:
        return None if abs(ratio - right_ratio) <= _NEAR else wrong("1.a", "ratio")
    narrow = (right_high - right_low) / (high - low)
    if narrow > MOST_NARROW:
        return wrong("1.a", "narrow", times=narrow)
    return wrong("1.a", "width")


@exercise("1.b", answers=ANSWERS, budget_s=20.0, evidence="comparison")
def verdict_in_words(answer: str, *, comparison: Comparison) -> str | None:
    """Check a verdict in words against that of the comparison."""
    kind = comparison.verdict.kind
    if kind not in ANSWERS:
        return None if answer == "not settled" else wrong("1.b", "not settled")
    return None if answer == kind else wrong("1.b", "excluded", answer=answer)


@exercise("1.c")
def contradictions(answer: Any) -> str | None:
    """Check two pairs of cells that contradict each other."""
    try:
        pairs = {frozenset(pair) for pair in answer}
    except TypeError:
        return wrong("1.c", "no list")
    cells = {name for table in article_tables().values() for name in table.cells()}
    for pair in pairs:
        if unknown := sorted(str(name) for name in pair if name not in cells):
            return wrong("1.c", "no cell", name=one_line(unknown[0], 80))
        if pair not in article_contradictions():
            return wrong("1.c", "no contradiction", names=" and ".join(sorted(pair)))
    return None if len(pairs) >= 2 else wrong("1.c", "too few")
