"""Operators of the source and of each run's optimized graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.template import apply, set_title
from workbench.figures.words import op_name, plain

if TYPE_CHECKING:
    from workbench.analysis.explanation import Explained

MOST_OPS = 30
BAR, ROW = 13, 12  # pixels
MOST_NAME = 60


def fusions_figure(explained: Mapping[str, Explained], sentence: str) -> go.Figure:
    """Bars for an operator: the source grey, then each run."""
    counts: dict[str, list[int]] = {}
    for index, told in enumerate(explained.values()):
        for one in told.passes.statistics.ops:
            row = counts.setdefault(one.op_type, [0] * (len(explained) + 1))
            row[0], row[index + 1] = max(row[0], one.before), one.after
    shown = sorted(counts.items(), key=lambda item: -max(item[1]))[:MOST_OPS]
    names = [plain(op_name(op), MOST_NAME) for op, _ in shown]
    figure = apply(go.Figure())
    for index, label in enumerate(("source", *explained)):
        style = style_of_run(max(0, index - 1))
        figure.add_bar(
            y=names,
            x=[row[index] for _, row in shown],
            orientation="h",
            name=plain(label),
            marker={
                "color": TEXT if index == 0 else style.color,
                "pattern": {"shape": "." if index == 0 else style.pattern},
                "line": {"color": TEXT, "width": 1},
            },
            hovertemplate=f"%{{y}}: %{{x}} nodes in {plain(label)}<extra></extra>",
        )
    figure.update_layout(barmode="group", yaxis={"autorange": "reversed"}, xaxis={"title_text": "nodes"})
    left_out = len(counts) - len(shown)
    note = f"the {left_out} rarest operators are in the table only" if left_out else ""
    height = (BAR * (len(explained) + 1) + ROW) * max(1, len(names)) + 90
    return set_title(figure, sentence.split("; "), note, height)
