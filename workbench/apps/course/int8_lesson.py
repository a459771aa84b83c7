"""The lesson on int8: speed beside accuracy, and the exercises."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.apps.course.exercise import NONE, OverBudget, exercise, wrong
from workbench.apps.course.lesson_figure import LessonFigure, dot
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.config import Config
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import listed, one_line
from workbench.drawing.chart import Axis, Chart, ReferenceLine, one_value, percent, series_look
from workbench.features.grid.acceptance import Budget, Check, checks

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import Verdict
    from workbench.features.accuracy.record import Paired
    from workbench.features.accuracy.result import AccuracyTable
    from workbench.features.accuracy.sensitivity_record import LayerSensitivity, SensitivityRecord
    from workbench.features.accuracy.sensitivity_result import Sensitivity
    from workbench.features.compare.result import Comparison
    from workbench.features.grid.matrix import Matrix

SPEED = "speed"  # the check of `judge.acceptance` on the speed-up
LEAST_DB = 3.0  # of error won back: 3 dB is a factor of 1.41
MOST_GIVEN_UP = 0.10  # of the time that quantizing everything saves
_ACTIVATIONS = ("uint8", "int8", "either")


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


class SpeedAndAccuracy(LessonFigure):
    """Speed and accuracy of each model and config. Made by `speed_and_accuracy`."""

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


@exercise("7.a", budget_s=60.0, limit="as many times faster as asked")
def fast_and_accurate(
    answer: Any, *, comparison: Comparison, accuracy: AccuracyTable, speedup: float, lost: float
) -> str | None:
    """Check for a config that is `speedup` times faster and loses at most `lost` of the accuracy."""
    budget = Budget(speedup, max_drop=lost)
    results = {
        verdict.label: checks(verdict, accuracy.record, verdict.label, budget)
        for verdict in comparison.verdicts
    }
    fine = [label for label, made in results.items() if all(check.passed is True for check in made)]
    if answer == NONE:
        return wrong("7.a", "one keeps", label=fine[0]) if fine else None
    if not isinstance(answer, Config):
        return wrong("7.a", "no config")
    label = next((run.label for run in comparison.runs if run.config == answer), None)
    if label is None:
        return wrong("7.a", "not measured")
    if label not in results:
        return wrong("7.a", "baseline")
    return None if label in fine else _first_failed(label, results[label])


@exercise("7.b", limit=f"at most {MOST_GIVEN_UP:.0%} of the gain given up", evidence="sensitivity")
def layer_left_out(answer: Any, *, sensitivity: Sensitivity) -> str | None:
    """Check for a layer that wins back 3 dB when it stays in float, for a tenth of the gain at most."""
    record = sensitivity.record
    if record.mode != "left out":
        return wrong("7.b", "alone")
    rows = {row.name: row for row in record.rows}
    fine = [name for name, row in rows.items() if _problem_of(row, record) is None]
    if answer == NONE:
        return wrong("7.b", "some", fine=len(fine), layers=len(rows)) if fine else None
    if answer not in [*rows]:  # an answer may be of any type
        return wrong("7.b", "no layer", answer=one_line(str(answer), 60), layers=listed(rows))
    return _problem_of(rows[answer], record)


@exercise("7.c", answers=_ACTIVATIONS, budget_s=30.0, evidence="comparison")
def activation_type(answer: str, *, comparison: Comparison) -> str | None:
    """Check the type of activations against a comparison of uint8 (A) with int8 (B)."""
    right = {"faster": "int8", "slower": "uint8"}.get(comparison.verdict.kind, "either")
    if answer == right:
        return None
    if right == "either":
        return wrong("7.c", "either", answer=answer)
    return wrong("7.c", "other", kind=comparison.verdict.kind)


def won_back_db(row: LayerSensitivity, record: SensitivityRecord) -> float | None:
    """Return by how many decibels the error shrinks without this layer; None where it is not known."""
    if row.error is None or not record.whole_error:
        return None
    return math.inf if row.error == 0 else 20 * math.log10(record.whole_error / row.error)


def given_up(row: LayerSensitivity, record: SensitivityRecord) -> float | None:
    """Return the share of the saved time that this layer saves; None where it is not known."""
    saved_s = sum(other.gain_s for other in record.rows if other.gain_s is not None and other.gain_s > 0)
    return None if row.gain_s is None or saved_s <= 0 else max(0.0, row.gain_s) / saved_s


def _problem_of(row: LayerSensitivity, record: SensitivityRecord) -> str | None:
    won_db, share = won_back_db(row, record), given_up(row, record)
    if won_db is None:
        return wrong("7.b", "no error")
    if won_db < LEAST_DB:
        return wrong("7.b", "little", won_db=won_db, least_db=LEAST_DB)
    if share is None:
        return wrong("7.b", "no time")
    if share > MOST_GIVEN_UP:
        return OverBudget(wrong("7.b", "given up", share=share, most=MOST_GIVEN_UP))
    return None


def _first_failed(label: str, results: tuple[Check, ...]) -> str:
    """Return what is wrong, the accuracy first; the speed alone is a matter of the budget."""
    failed = [check for check in results if check.passed is not True]
    first = next((check for check in failed if check.what != SPEED), failed[0])
    text = wrong("7.a", "missed", label=label, reason=first.reason)
    return OverBudget(text) if first.what == SPEED else text
