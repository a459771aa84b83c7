"""Versions of ONNX Runtime: nodes, load time, latency, and the speed-up against the first one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Axis, Chart, ChartRow, ReferenceLine, Value, milliseconds, run_look
from workbench.text import in_ms, one_line

if TYPE_CHECKING:
    from workbench.analysis.versions import VersionsRecord

_AXES = (
    Axis("nodes"),
    Axis("load time (ms)"),
    Axis("median latency (ms)"),
    Axis("times as fast as A", "dot", (ReferenceLine(1.0),)),
)


def versions_chart(record: VersionsRecord) -> Chart:
    """Return a row for each environment."""
    verdicts = {verdict.label: verdict for verdict in record.comparison.verdicts}
    rows = []
    for index, (row, run) in enumerate(zip(record.rows, record.comparison.runs, strict=True)):
        look, verdict = run_look(index), verdicts.get(row.label)
        speed = Value(None, "baseline", look)
        if verdict is not None:
            ratio = verdict.stated_ratio
            text = verdict.kind if ratio is None else f"{ratio:.2f}×, {verdict.kind}"
            speed = Value(ratio, text, look, verdict.low, verdict.high)
        nodes = "not known" if row.nodes is None else f"{row.nodes:,}"
        rows.append(
            ChartRow(
                one_line(f"{row.label}: {row.onnxruntime}", 40),
                (
                    (Value(row.nodes, nodes, look),),
                    (Value(milliseconds(run.load_s), in_ms(run.load_s) or "not measured", look),),
                    (
                        Value(
                            milliseconds(run.latency.median_s),
                            in_ms(run.latency.median_s) or "not measured",
                            look,
                        ),
                    ),
                    (speed,),
                ),
            )
        )
    title = f"{record.model_name}: versions of ONNX Runtime side by side"
    return Chart((title,), _AXES, tuple(rows), columns=2)
