"""The same config against itself: ratios of single processes beside the interval over pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.core.text import counted, in_brackets
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd

    from workbench.core.bundle.comparison import ComparisonRecord, Verdict
    from workbench.drawing.chart import Chart
    from workbench.features.compare.result import Comparison

NOTABLE = 0.02  # a difference that a reader would report
MOST_NAIVE = 20  # rows of the picture


class EqualConfigs(Exportable):
    """Naive and paired ratios of equal configs. Made by `equal_configs`."""

    def __init__(self, naive: tuple[float, ...], paired: tuple[Verdict, ...]) -> None:
        self.naive, self.paired = naive, paired

    @property
    def largest_difference(self) -> float | None:
        """The largest difference of two single processes, as a share; None without ratios."""
        return max((abs(ratio - 1) for ratio in self.naive), default=None)

    @property
    def notable(self) -> int:
        """How many single ratios are more than 2 % from 1."""
        return sum(abs(ratio - 1) > NOTABLE for ratio in self.naive)

    def to_frame(self) -> pd.DataFrame:
        """One row a ratio; columns method, ratio, low, high."""
        import pandas as pd

        rows: list[tuple[str, float | None, float | None, float | None]]
        rows = [("one process each", ratio, None, None) for ratio in self.naive]
        rows += [("pairs", pair.ratio, pair.low, pair.high) for pair in self.paired]
        return pd.DataFrame(rows, columns=["method", "ratio", "low", "high"])

    def __str__(self) -> str:
        if not self.naive:
            return "Too few rounds to set one process against another: measure longer."
        ends = [(pair.low, pair.high) for pair in self.paired]
        intervals = [(low, high) for low, high in ends if low is not None and high is not None]
        includes = sum(low <= 1 <= high for low, high in intervals)
        largest = 100 * (self.largest_difference or 0.0)
        start = (
            f"Equal configs, one process each: {self.notable} of {counted(len(self.naive), 'ratio')} "
            f"differ by more than {100 * NOTABLE:.0f} %, at most by {largest:.1f} %."
        )
        if not intervals:
            return f"{start} No comparison had enough pairs for an interval: measure longer."
        return f"{start} Pairs: {includes} of {counted(len(intervals), 'interval')} contain 1."

    def chart(self) -> Chart:
        """Return a row for each ratio: single processes first, then the pairs with their intervals."""
        from workbench.drawing.chart import Axis, Chart, ReferenceLine, Value, one_value, series_look

        naive_look, paired_look = series_look(0, "one process each"), series_look(1, "pairs of processes")
        rows = [
            one_value(f"single {number}", Value(ratio, f"{ratio:.3f}", naive_look))
            for number, ratio in enumerate(self.naive[:MOST_NAIVE], 1)
        ]
        for number, pair in enumerate(self.paired, 1):
            text = "no ratio" if pair.ratio is None else f"{pair.ratio:.3f}"
            text += in_brackets(pair.low, pair.high, ".3f")
            value = Value(pair.ratio, text, paired_look, pair.low, pair.high)
            rows.append(one_value(f"paired {number}", value))
        axis = Axis("A's time over B's; A and B are the same config", "dot", (ReferenceLine(1.0),))
        return Chart(("A config against itself",), (axis,), tuple(rows))


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
