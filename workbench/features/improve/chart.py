"""What came of each fix and each config that was tried: measured beside predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.drawing.chart import Axis, Chart, ChartRow, Look, ReferenceLine, Value
from workbench.drawing.palette import GAIN, LOSS, TEXT

if TYPE_CHECKING:
    from workbench.features.improve.record import ImprovementRecord, Trial

_KEPT, _REFUSED = Look(GAIN, "", "circle", "kept"), Look(LOSS, "/", "diamond", "not kept")
_PREDICTED = Look(TEXT, "", "square", "predicted", hollow=True)
_MOST_TRIALS = 16


def improvement_chart(record: ImprovementRecord) -> Chart:
    """Return the measured speed-up of each fix and config that was tried, beside the predicted one."""
    trials = [trial for trial in record.trials if trial.way == "fix" or trial.ratio is not None]
    rows = tuple(map(_row, trials[:_MOST_TRIALS]))
    axis = Axis("speed-up (times)", "dot", (ReferenceLine(1.0),))
    return Chart((record.headline,), (axis,), rows, record.ended)


def _row(trial: Trial) -> ChartRow:
    look = _KEPT if trial.kept else _REFUSED
    values = [Value(None, trial.measured_text, look, detail=trial.reason)]
    if trial.ratio is not None and trial.low is not None:
        text = f"{trial.measured_text}, {look.name}"
        values = [Value(trial.ratio, text, look, trial.low, trial.high, trial.reason)]
    if trial.predicted is not None:
        values.append(Value(trial.predicted, f"predicted {trial.predicted_text}", _PREDICTED))
    return ChartRow(trial.title, (tuple(values),))
