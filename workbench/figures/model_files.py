"""Operators whose number differs between two model files."""

from __future__ import annotations

from workbench.analysis.difference.files import FileDifference
from workbench.figures.chart import Axis, Chart, ChartRow, Value, run_look
from workbench.figures.words import op_name

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
