"""The lesson on measuring: a config against itself, twelve pairs whose ratio is known, the exercises."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from statistics import fmean, median_high
from typing import TYPE_CHECKING, Any

from workbench.apps.course.article import article_contradictions, article_tables
from workbench.apps.course.exercise import ANSWERS, exercise
from workbench.apps.course.lesson_figure import LessonFigure, dots
from workbench.core.bundle.display import to_table
from workbench.core.measure.sequential import interval
from workbench.core.text import counted, in_brackets, one_line
from workbench.drawing.chart import Value, series_look

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, Verdict
    from workbench.features.compare.result import Comparison

NOTABLE = 0.02  # a difference that a reader would report
MOST_NAIVE = 20  # rows of the picture
PAIRS = 12
_SAMPLES = 40  # of each process
TRUE_RATIO = 1.02  # A's time over B's
TYPICAL_MS = 5.0
PAIR_SCATTER = 0.02  # from pair to pair: memory layout, clock rate, neighbours
SAMPLE_SCATTER = 0.01


class EqualConfigs(LessonFigure):
    """Ratios of single processes of equal configs beside intervals over pairs. Made by `equal_configs`."""

    def __init__(self, naive: tuple[float, ...], paired: tuple[Verdict, ...]) -> None:
        self.naive, self.paired = naive, paired
        single, pairs = series_look(0, "one process each"), series_look(1, "pairs of processes")
        values = [
            (f"single {number}", Value(ratio, f"{ratio:.3f}", single))
            for number, ratio in enumerate(naive[:MOST_NAIVE], 1)
        ]
        for number, pair in enumerate(paired, 1):
            text = "no ratio" if pair.ratio is None else f"{pair.ratio:.3f}"
            text += in_brackets(pair.low, pair.high, ".3f")
            values.append((f"paired {number}", Value(pair.ratio, text, pairs, pair.low, pair.high)))
        chart = dots(("A config against itself",), "A's time over B's; A and B are the same config", values)
        numbers = ("ratio", "low", "high")
        rows: list[tuple[object, ...]] = [("one process each", ratio, None, None) for ratio in naive]
        rows += [("pairs", pair.ratio, pair.low, pair.high) for pair in paired]
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
        ends = [(pair.low, pair.high) for pair in self.paired]
        intervals = [(low, high) for low, high in ends if low is not None and high is not None]
        if not intervals:
            return f"{start} No comparison had enough pairs for an interval: measure longer."
        includes = sum(low <= 1 <= high for low, high in intervals)
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


_NEAR = 0.002


@exercise("1.a")
def interval_of_pairs(answer: Any) -> str | None:
    """Check (ratio, low, high) of the saved pairs against Student's t over one number a pair."""
    try:
        ratio, low, high = (float(number) for number in answer)
    except (TypeError, ValueError, OverflowError):
        return "The answer is not three numbers: (ratio, low, high)."
    if not low < ratio < high:
        return "The ratio does not lie inside the interval."
    log_ratios = [math.log(fmean(pair.a_ms) / fmean(pair.b_ms)) for pair in saved_pairs()]
    right = interval(log_ratios, error=0.05)
    assert right is not None
    if max(abs(low - math.exp(right.low)), abs(high - math.exp(right.high))) <= _NEAR:
        return (
            None if abs(ratio - math.exp(right.middle)) <= _NEAR else "The interval is right, the ratio not."
        )
    width, right_width = high - low, math.exp(right.high) - math.exp(right.low)
    if width < 0.7 * right_width:
        return (
            f"The interval is {right_width / width:.1f} times too narrow: samples of one process are no "
            "independent evidence, so pooling them promises too much."
        )
    return "The interval is not that of Student's t at 95 % over twelve numbers."


@exercise("1.b", answers=ANSWERS, budget_s=20.0, evidence="comparison")
def verdict_in_words(answer: str, *, comparison: Comparison) -> str | None:
    """Check a verdict in words against that of the comparison."""
    kind = comparison.verdict.kind
    is_settled = kind in ANSWERS
    if answer == (kind if is_settled else "not settled"):
        return None
    if not is_settled:
        return "The interval allows more than one answer, so the question is not settled."
    return f"The interval excludes {answer!r}."


@exercise("1.c")
def contradictions(answer: Any) -> str | None:
    """Check two pairs of cells that contradict each other."""
    try:
        pairs = {frozenset(pair) for pair in answer}
    except TypeError:
        return "The answer is no list of pairs of cells."
    cells = {name for table in article_tables().values() for name in table.cells()}
    for pair in pairs:
        if unknown := sorted(str(name) for name in pair if name not in cells):
            return f"The tables have no cell {one_line(unknown[0], 80)!r}."
        if pair not in article_contradictions():
            names = " and ".join(sorted(pair))
            return f"{names} can both be true: a condition that is not stated may differ."
    return None if len(pairs) >= 2 else "Two different pairs are wanted."
