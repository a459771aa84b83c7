"""Operators whose number differs between two model files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.difference.files import FileDifference
from workbench.figures.chart import Axis, Chart, ChartRow, Value, run_look
from workbench.figures.drawing import chart_figure, chart_scene
from workbench.figures.words import op_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.figures.scene import Scene

MOST_OPS = 20
ALL = "all nodes"


def files_chart(record: FileDifference) -> Chart:
    """Return a row for all nodes, then for each operator that differs, the largest difference first."""
    looks = run_look(0, "before"), run_look(1, "after")
    ordered = sorted(record.operators, key=lambda row: -abs(row.after - row.before))
    counts = [(ALL, record.nodes), *((row.op_type, (row.before, row.after)) for row in ordered[:MOST_OPS])]
    rows = (
        ChartRow(
            op_name(name), (tuple(Value(n, f"{n:,}", look) for n, look in zip(pair, looks, strict=True)),)
        )
        for name, pair in counts
    )
    left_out = len(ordered) - MOST_OPS
    note = f"{left_out:,} more operators stand in the table" if left_out > 0 else ""
    return Chart(tuple(str(record).splitlines()), (Axis("nodes"),), tuple(rows), note)


def files_figure(record: FileDifference) -> go.Figure:
    """Draw the chart with plotly."""
    return chart_figure(files_chart(record))


def files_scene(record: FileDifference) -> Scene:
    """Draw the chart as a still picture."""
    return chart_scene(files_chart(record))
