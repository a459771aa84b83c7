"""ORT's five levels: nodes left, load time, latency, and the speed-up of each with its interval."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, ChartRow, ReferenceLine, Value, milliseconds, series_look
from workbench.text import in_ms

if TYPE_CHECKING:
    from workbench.analysis.levels import LevelRow, LevelsRecord

_LOOK = series_look(0)
_AXES = (
    Axis("nodes"),
    Axis("load time (ms)"),
    Axis("median latency (ms)"),
    Axis("times as fast as level disabled", "dot", (ReferenceLine(1.0),)),
)


def levels_chart(record: LevelsRecord) -> Chart:
    """Return a row for each level."""
    title = f"{record.model_name}: ORT's levels side by side"
    note = f"speed-ups have {record.comparison.verdict.confidence_text} intervals; {_outputs(record)}"
    return Chart((title,), _AXES, tuple(_row(row) for row in record.rows), note, columns=2)


def _row(row: LevelRow) -> ChartRow:
    nodes = "not known" if row.nodes is None else f"{row.nodes:,}"
    absent = "not measured"
    return ChartRow(
        row.level,
        (
            (Value(row.nodes, nodes, _LOOK),),
            (Value(milliseconds(row.load_s), in_ms(row.load_s) or absent, _LOOK),),
            (Value(milliseconds(row.median_s), in_ms(row.median_s) or absent, _LOOK),),
            (_speedup(row),),
        ),
    )


def _speedup(row: LevelRow) -> Value:
    if row.verdict is None:
        return Value(None, "baseline", _LOOK)
    differ = row.verdict == "outputs differ"
    if differ or row.speedup is None or row.low is None or row.high is None:
        return Value(None, row.verdict if differ else "not settled", _LOOK, detail=row.reason or "")
    text = f"{row.speedup:.2f}× ({row.low:.2f} to {row.high:.2f})"
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
