"""Operators of the source graph and of each optimized graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.figures.chart import GREY, Axis, Chart, ChartRow, Look, Value, run_look, series_look
from workbench.figures.drawing import chart_figure
from workbench.figures.palette import SOURCE
from workbench.figures.words import op_name

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.analysis.explanation import Explained
    from workbench.analysis.passes import Statistics

MOST_OPS = 20
OTHERS = "all others"


def operators_chart(by_look: Mapping[Look, Statistics], sentence: str, most: int = MOST_OPS) -> Chart:
    """Return a row for each of the most frequent operators; the rarest are counted together."""
    counts: dict[str, list[int]] = {}
    for index, statistics in enumerate(by_look.values(), start=1):
        for op in statistics.ops:
            row = counts.setdefault(op.op_type, [0] * (len(by_look) + 1))
            row[0], row[index] = max(row[0], op.before), op.after
    ordered = sorted(counts.items(), key=lambda item: -max(item[1]))
    shown, rest = (ordered, []) if len(ordered) <= most else (ordered[: most - 1], ordered[most - 1 :])
    if rest:
        shown = [*shown, (OTHERS, [sum(column) for column in zip(*(row for _, row in rest), strict=True)])]
    looks = (Look(SOURCE, GREY.pattern, GREY.symbol, "source"), *by_look)
    rows = (
        ChartRow(op_name(op), (tuple(Value(n, f"{n:,}", look) for n, look in zip(row, looks, strict=True)),))
        for op, row in shown
    )
    note = f"the {len(rest)} rarest operators are counted together" if rest else ""
    return Chart(tuple(sentence.split("; ")), (Axis("nodes"),), tuple(rows), note)


def explanation_chart(explained: Explained, sentence: str = "") -> Chart:
    """Return the operators of one explanation, before and after."""
    numbers = explained.passes.statistics
    short = f"{explained.model_name}: {numbers.source_nodes:,} nodes became {numbers.optimized_nodes:,}"
    return operators_chart({series_look(0, "optimized"): numbers}, sentence or short)


def fusions_chart(by_label: Mapping[str, Statistics], sentence: str) -> Chart:
    """Return the operators of several runs."""
    looks = (run_look(index, label) for index, label in enumerate(by_label))
    return operators_chart(dict(zip(looks, by_label.values(), strict=True)), sentence)


def histogram_figure(explained: Explained) -> go.Figure:
    """Draw the chart with plotly."""
    return chart_figure(explanation_chart(explained))
