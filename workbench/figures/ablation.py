"""What each pass is worth, with its interval, above the control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, Look, ReferenceLine, Value, one_value, percent
from workbench.figures.palette import GAIN, LOSS, TEXT
from workbench.text import one_line

if TYPE_CHECKING:
    from workbench.analysis.ablation import AblationRecord

MOST_LETTERS = 120  # of names in the note
_LOOKS = {
    "helps": Look(GAIN, "", "circle", "helps"),
    "hurts": Look(LOSS, "/", "diamond", "hurts"),
    "no effect": Look(TEXT, "", "square", "no effect"),
}


def ablation_chart(record: AblationRecord) -> Chart:
    """Return a dot with its interval for each pass; right of zero the pass helps. The control is last."""
    rows = []
    for row in (*record.rows, record.control):
        look = _LOOKS.get(row.effect, Look(TEXT, "", "circle", row.effect, hollow=True))
        value = Value(None, "not measured" if row.worth is None else "not settled", look, detail=row.reason)
        if row.worth is not None and row.low is not None and row.high is not None:
            text = f"{row.worth * 100:+.1f} %, {row.effect}"
            value = Value(percent(row.worth), text, look, percent(row.low), percent(row.high))
        rows.append(one_value(row.name, value))
    note = "each pass was disabled alone; the control is the same config measured twice"
    if record.hurts:
        names = one_line(", ".join(record.hurts), MOST_LETTERS)
        note = f"these passes make the model slower here: {names}; {note}"
    axis = Axis(
        f"slower without the pass, {record.comparison.verdict.confidence_text} interval (%)",
        "dot",
        (ReferenceLine(0.0),),
    )
    return Chart((f"{record.model_name}: what each pass is worth here",), (axis,), tuple(rows), note)
