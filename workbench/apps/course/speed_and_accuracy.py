"""What each precision is worth: speed and accuracy of each model, each with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.display import config_in_words
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import in_brackets
from workbench.drawing.chart import percent
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd

    from workbench.core.bundle.comparison import Verdict
    from workbench.drawing.chart import Chart
    from workbench.features.accuracy.record import Paired
    from workbench.features.accuracy.result import AccuracyTable
    from workbench.features.grid.matrix import Matrix


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """One model under one config, against its first config."""

    model: str
    config: str
    verdict: Verdict
    accuracy: Paired | None  # None: not evaluated

    def speed(self) -> str:
        """Return the verdict in words."""
        kind = "speed not settled" if self.verdict.kind == "unknown" else self.verdict.kind
        return speed_in_words(self.verdict) or kind

    def points(self) -> str:
        """Return the change of the accuracy in points."""
        if self.accuracy is None:
            return "accuracy not measured"
        change, low, high = (percent(end) for end in _ends(self.accuracy))
        return f"{change:+.2f} points{in_brackets(low, high, '+.2f')}"


class SpeedAndAccuracy(Exportable):
    """Speed and accuracy of each model and config. Made by `speed_and_accuracy`."""

    def __init__(self, rows: tuple[PrecisionRow, ...]) -> None:
        self.rows = rows

    def to_frame(self) -> pd.DataFrame:
        """One row a model and config: verdict, ratio, change of the accuracy, with their intervals."""
        import pandas as pd

        columns = [
            "model", "config", "verdict", "ratio", "low", "high", "accuracy_change", "change_low",
            "change_high",
        ]  # fmt: skip
        rows = [
            (
                row.model, row.config, row.verdict.kind, row.verdict.ratio, row.verdict.low,
                row.verdict.high, *_ends(row.accuracy),
            )
            for row in self.rows
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(columns[3:], "float64"))

    def __str__(self) -> str:
        return (
            "\n".join(f"{row.model}, {row.config}: {row.speed()}, {row.points()}" for row in self.rows)
            or "Nothing was measured."
        )

    def chart(self) -> Chart:
        """Return a row for each model and config: speed on one axis, accuracy on the other."""
        from workbench.drawing.chart import Axis, Chart, ChartRow, ReferenceLine, Value, series_look

        looks = {row.config: series_look(index, row.config) for index, row in enumerate(self._first_rows())}
        rows = []
        for row in self.rows:
            look, verdict = looks[row.config], row.verdict
            change, low, high = (percent(end) for end in _ends(row.accuracy))
            rows.append(
                ChartRow(
                    f"{row.model}, {row.config}",
                    (
                        (Value(verdict.ratio, row.speed(), look, verdict.low, verdict.high),),
                        (Value(change, row.points(), look, low, high),),
                    ),
                )
            )
        axes = (
            Axis("times as fast as float32", "dot", (ReferenceLine(1.0),)),
            Axis("accuracy against float32 (points)", "dot", (ReferenceLine(0.0),)),
        )
        return Chart(("Speed and accuracy of each precision",), axes, tuple(rows), columns=2)

    def _first_rows(self) -> list[PrecisionRow]:
        return list({row.config: row for row in self.rows}.values())


def speed_and_accuracy(matrix: Matrix, *tables: AccuracyTable) -> SpeedAndAccuracy:
    """Set the verdicts of a matrix beside accuracies of the same configs, in the same order.

    >>> from workbench import course
    >>> str(course.SpeedAndAccuracy(()))
    'Nothing was measured.'
    """
    records = {table.record.model_name: table.record for table in tables}
    rows = []
    for row in matrix.record.places:
        if row.measured is None:
            continue
        configs = {run.label: config_in_words(run.config) for run in row.measured.runs}
        record = records.get(row.model)
        for verdict in row.measured.verdicts:
            score = None if record is None else record.score(verdict.label)
            gap = None if score is None else score.against
            rows.append(PrecisionRow(row.model, configs[verdict.label], verdict, gap))
    return SpeedAndAccuracy(tuple(rows))


def _ends(gap: Paired | None) -> tuple[float | None, float | None, float | None]:
    return (None, None, None) if gap is None else (gap.value, gap.low, gap.high)
