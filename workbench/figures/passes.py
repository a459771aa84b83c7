"""Operators before and after, and nodes left after each pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from workbench.analysis.observe import PREPARED
from workbench.analysis.passes import FiredPass
from workbench.analysis.passes.fired import in_words
from workbench.figures.palette import TEXT, style_of_run
from workbench.figures.template import apply, set_title
from workbench.figures.words import op_name, plain

if TYPE_CHECKING:
    from workbench.analysis.explanation import Explained

MOST_OPS = 40
ROW = 34  # pixels
MOST_NAME = 60


@dataclass(frozen=True, slots=True)
class Histogram:
    """Operators by how many nodes they have; what does not fit is counted under one name."""

    model: str  # untrusted
    ops: tuple[tuple[str, int, int], ...]  # (operator, before, after)
    left_out: int  # operators
    source_nodes: int
    optimized_nodes: int


def histogram_data(told: Explained, most: int = MOST_OPS) -> Histogram:
    """At most `most` operators; the rarest together as one."""
    counts = [(one.op_type, one.before, one.after) for one in told.passes.statistics.ops]
    shown, rest = (counts, []) if len(counts) <= most else (counts[: most - 1], counts[most - 1 :])
    if rest:
        shown = [*shown, ("all others", sum(row[1] for row in rest), sum(row[2] for row in rest))]
    numbers = told.passes.statistics
    return Histogram(told.model_name, tuple(shown), len(rest), numbers.source_nodes, numbers.optimized_nodes)


def histogram_figure(told: Explained) -> go.Figure:
    """One pair of bars an operator."""
    data = histogram_data(told)
    names = [plain(op_name(op), MOST_NAME) for op, _, _ in data.ops]
    figure = apply(go.Figure())
    for index, label in enumerate(("in the source", "optimized")):
        style = style_of_run(index)
        figure.add_bar(
            y=names,
            x=[row[index + 1] for row in data.ops],
            orientation="h",
            name=label,
            marker={
                "color": style.color,
                "pattern": {"shape": style.pattern},
                "line": {"color": TEXT, "width": 1},
            },
            text=[row[index + 1] or "" for row in data.ops],
            textposition="outside",
            cliponaxis=False,
            hovertemplate="%{y}: %{x} nodes " + label + "<extra></extra>",
        )
    figure.update_layout(barmode="group", yaxis={"autorange": "reversed"}, xaxis={"title_text": "nodes"})
    note = f"the {data.left_out} rarest operators are counted together" if data.left_out else ""
    sentence = f"{data.model}: {data.source_nodes:,} nodes became {data.optimized_nodes:,}"
    return set_title(figure, [sentence], note, ROW * len(names) + 90)


def _when(one: FiredPass) -> str:
    return "before ORT" if one.level == PREPARED else f"level {one.level}"


def passes_figure(told: Explained) -> go.Figure:
    """A step for each pass that fired, in ORT's order."""
    fired = told.passes.fired
    names = [
        "source",
        *(f"{index}. {plain(one.name, MOST_NAME)}" for index, one in enumerate(fired, start=1)),
    ]
    nodes = [len(told.source.nodes), *(one.change.nodes_after for one in fired)]
    style = style_of_run(0)
    figure = apply(go.Figure())
    figure.add_bar(
        y=names,
        x=nodes,
        orientation="h",
        marker={"color": style.color, "line": {"color": TEXT, "width": 1}},
        text=["", *(_when(one) for one in fired)],
        textposition="auto",
        customdata=["", *(plain(in_words(one.change)) for one in fired)],
        hovertemplate="%{y}: %{x} nodes left; %{customdata}<extra></extra>",
    )
    figure.update_layout(
        yaxis={"autorange": "reversed"}, xaxis={"title_text": "nodes left"}, showlegend=False
    )
    sentence = (
        f"{told.model_name}: {nodes[0]:,} nodes became {nodes[-1]:,} through {len(told.passes.names)} passes"
    )
    note = "" if told.passes.exact else "these passes do not end in exactly ORT's own graph"
    if not told.passes.followed:
        note = "the passes were not followed one by one: wb.explain(…, passes=True) does it"
    return set_title(figure, [sentence], note, ROW * len(names) + 60)
