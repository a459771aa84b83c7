"""ORT's levels, versions of ORT and single passes: what each is worth, with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.measure.wording import speed_in_words
from workbench.core.text import bounded, factor, factor_ends, one_line
from workbench.drawing.chart import (
    Axis,
    Chart,
    Look,
    ReferenceLine,
    Value,
    one_value,
    percent,
    run_look,
    series_look,
    time_value,
)
from workbench.drawing.palette import GAIN, LOSS, TEXT

if TYPE_CHECKING:
    from workbench.features.variants.ablation import AblationRecord
    from workbench.features.variants.levels import LevelRow, LevelsRecord
    from workbench.features.variants.versions import VersionsRecord

_LOOK = series_look(0)
_AXES = (Axis("nodes"), Axis("load time (ms)"), Axis("median latency (ms)"))
MOST_LETTERS = 120  # of names in the note
_EFFECTS = {
    "helps": Look(GAIN, "", "circle", "helps"),
    "hurts": Look(LOSS, "/", "diamond", "hurts"),
    "no effect": Look(TEXT, "", "square", "no effect"),
}


def levels_chart(record: LevelsRecord) -> Chart:
    """Return a row for each level."""
    title = f"{record.model_name}: ORT's levels side by side"
    note = f"speed-ups have {record.comparison.verdict.confidence_text} intervals; {_outputs(record)}"
    rows = (
        one_value(row.level, *_measured(row.nodes, row.load_s, row.median_s, _LOOK), _speedup(row))
        for row in record.rows
    )
    axis = Axis("times as fast as level disabled", "dot", (ReferenceLine(1.0),))
    return Chart((title,), (*_AXES, axis), tuple(rows), note, columns=2)


def versions_chart(record: VersionsRecord) -> Chart:
    """Return a row for each environment."""
    verdicts = {verdict.label: verdict for verdict in record.comparison.verdicts}
    rows = []
    for index, (row, run) in enumerate(zip(record.rows, record.comparison.runs, strict=True)):
        look, verdict = run_look(index), verdicts.get(row.label)
        speed = Value(None, "baseline", look)
        if verdict is not None:
            ratio = verdict.stated_ratio
            text = (
                speed_in_words(verdict) or verdict.kind
                if ratio is None
                else f"{factor(ratio, verdict.low, verdict.high)}, {verdict.kind}"
            )
            speed = Value(ratio, text, look, verdict.low, verdict.high)
        label = one_line(f"{row.label}: {row.onnxruntime}", 40)
        rows.append(one_value(label, *_measured(row.nodes, run.load_s, run.latency.median_s, look), speed))
    title = f"{record.model_name}: versions of ONNX Runtime side by side"
    axis = Axis("times as fast as A", "dot", (ReferenceLine(1.0),))
    return Chart((title,), (*_AXES, axis), tuple(rows), columns=2)


def ablation_chart(record: AblationRecord) -> Chart:
    """Return a dot with its interval for each pass; right of zero the pass helps. The control is last."""
    rows = []
    for row in (*record.rows, record.control):
        look = _EFFECTS.get(row.effect, Look(TEXT, "", "circle", row.effect, hollow=True))
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


def _measured(
    nodes: int | None, load_s: float | None, median_s: float | None, look: Look
) -> tuple[Value, Value, Value]:
    """Return the values on the first axes."""
    count = Value(nodes, "not known" if nodes is None else f"{nodes:,}", look)
    return count, time_value(load_s, look), time_value(median_s, look)


def _speedup(row: LevelRow) -> Value:
    if row.verdict is None:
        return Value(None, "baseline", _LOOK)
    differ = row.verdict == "outputs differ"
    if differ or row.speedup is None or row.low is None or row.high is None:
        unsettled = (row.speedup is None and bounded(row.low, row.high)) or "not settled"
        return Value(None, row.verdict if differ else unsettled, _LOOK, detail=row.reason or "")
    text = factor(row.speedup, row.low, row.high) + factor_ends(row.low, row.high)
    return Value(row.speedup, text, _LOOK, row.low, row.high)


def _outputs(record: LevelsRecord) -> str:
    compared = [row for row in record.rows if row.verdict is not None]
    differ = [row.level for row in compared if row.outputs_agree is False]
    unknown = [row.level for row in compared if row.outputs_agree is None]
    sentences = []
    if differ:
        sentences.append(f"outputs differ at {', '.join(differ)}")
    if unknown:
        sentences.append(f"outputs were not compared at {', '.join(unknown)}")
    return "; ".join(sentences) or "outputs agree at every level"
