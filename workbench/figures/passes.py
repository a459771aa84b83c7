"""Nodes left after each pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.observe import PREPARED
from workbench.analysis.passes import FiredPass
from workbench.analysis.passes.fired import in_words
from workbench.figures.chart import Axis, Chart, Value, one_value, series_look
from workbench.figures.drawing import chart_figure
from workbench.text import counted

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from workbench.analysis.explanation import Explained

_LOOK = series_look(0)


def passes_chart(explained: Explained) -> Chart:
    """Return a row for each pass that fired, in ORT's order."""
    source, passes = len(explained.source.nodes), explained.passes
    rows = [one_value("source", Value(source, f"{source:,}", _LOOK))]
    for number, fired in enumerate(passes.fired, start=1):
        left = fired.change.nodes_after
        value = Value(left, f"{left:,}, {_when(fired)}", _LOOK, detail=in_words(fired.change))
        rows.append(one_value(f"{number}. {fired.name}", value))
    last = passes.fired[-1].change.nodes_after if passes.fired else source
    names = counted(len(passes.names), "pass", "passes")
    sentence = f"{explained.model_name}: {source:,} nodes became {last:,} through {names}"
    note = "" if passes.exact else "these passes do not end in exactly ORT's own graph"
    if not passes.followed:
        note = "the passes were not followed one by one: wb.explain(…, passes=True) does it"
    return Chart((sentence,), (Axis("nodes left"),), tuple(rows), note)


def passes_figure(explained: Explained) -> go.Figure:
    """Draw the chart with plotly."""
    return chart_figure(passes_chart(explained))


def _when(fired: FiredPass) -> str:
    return "before ORT" if fired.level == PREPARED else f"level {fired.level}"
