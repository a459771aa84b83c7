"""Speed beside accuracy of each model and config of a matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.measure.wording import speed_in_words
from workbench.drawing.chart import Axis, Chart, ReferenceLine, one_value, percent, series_look
from workbench.features.base.drawn_table import DrawnTable, dot

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import Verdict
    from workbench.features.accuracy.record import AccuracyRecord, Paired
    from workbench.features.grid.record import GridRecord


@dataclass(frozen=True, slots=True)
class PrecisionRow:
    """One model under one config, against its first config."""

    model: str
    config: str
    verdict: Verdict
    accuracy: Paired | None  # None: not evaluated

    @property
    def change(self) -> Estimate:
        """The change of the accuracy, as a share."""
        gap = self.accuracy
        return Estimate() if gap is None else Estimate(gap.value, gap.low, gap.high)

    def speed(self) -> str:
        """Return the verdict in words."""
        kind = "speed not settled" if self.verdict.kind == "unknown" else self.verdict.kind
        return speed_in_words(self.verdict) or kind

    def points(self) -> str:
        """Return the change of the accuracy in points."""
        return Estimate(*map(percent, self.change.ends)).words("+.2f", " points") or "accuracy not measured"


class SpeedAndAccuracy(DrawnTable):
    """Speed and accuracy of each model and config. Made by `Matrix.speed_and_accuracy`."""

    def __init__(self, rows: tuple[PrecisionRow, ...]) -> None:
        self.rows = rows
        configs = list(dict.fromkeys(row.config for row in rows))
        drawn = []
        for row in rows:
            look = series_look(configs.index(row.config), row.config)
            speed = dot(Estimate.of(row.verdict), row.speed(), look)
            points = dot(Estimate(*map(percent, row.change.ends)), row.points(), look)
            drawn.append(one_value(f"{row.model}, {row.config}", speed, points))
        axes = (
            Axis("times as fast as float32", "dot", (ReferenceLine(1.0),)),
            Axis("accuracy against float32 (points)", "dot", (ReferenceLine(0.0),)),
        )
        chart = Chart(("Speed and accuracy of each precision",), axes, tuple(drawn), columns=2)
        numbers = ("ratio", "low", "high", "accuracy_change", "change_low", "change_high")
        table = (
            (row.model, row.config, row.verdict.kind, *Estimate.of(row.verdict).ends, *row.change.ends)
            for row in rows
        )
        lines = (f"{row.model}, {row.config}: {row.speed()}, {row.points()}" for row in rows)
        sentence = "\n".join(lines) or "Nothing was measured."
        super().__init__(sentence, chart, ("model", "config", "verdict", *numbers), table, numbers)


def precision_rows(
    matrix: GridRecord, accuracies: dict[str, AccuracyRecord | None]
) -> Iterator[PrecisionRow]:
    """Yield each verdict of a matrix beside the accuracy of the same config of the same model."""
    for row in matrix.places:
        if row.measured is None:
            continue
        configs = {run.label: config_in_words(run.config) for run in row.measured.runs}
        record = accuracies.get(row.model)
        for verdict in row.measured.verdicts:
            score = None if record is None else record.score(verdict.label)
            gap = None if score is None else score.against
            yield PrecisionRow(row.model, configs[verdict.label], verdict, gap)
