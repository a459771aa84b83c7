"""Memory over one run, node by node."""

from __future__ import annotations

import plotly.graph_objects as go

from workbench.explain.memory.memory import Memory, NodeMemory
from workbench.figures.palette import BLUE, GREEN, PURPLE, VERMILLION
from workbench.figures.template import apply, set_title
from workbench.figures.words import plain

MIB = 1 << 20
PLOT_PIXELS = 300
_LINES = (
    ("held by the arena", "held_bytes", VERMILLION, "dot"),
    ("in use in the arena", "in_use_bytes", BLUE, "solid"),
    ("activations alive, by the graph", "live_bytes", GREEN, "dash"),
)


def memory_figure(memory: Memory) -> go.Figure:
    """Lines over the nodes in the order they ran; what the trace does not tell has no line."""
    figure = go.Figure()
    for name, field, color, dash in _LINES:
        sizes = [getattr(node, field) for node in memory.nodes]
        if all(size is None for size in sizes):
            continue
        figure.add_trace(
            go.Scatter(
                x=[node.position for node in memory.nodes],
                y=[None if size is None else size / MIB for size in sizes],
                name=name,
                mode="lines",
                line={"color": color, "dash": dash, "shape": "hv"},
                customdata=[_label(node) for node in memory.nodes],
                hovertemplate="%{customdata}<br>%{y:,.4g} MiB<extra></extra>",
            )
        )
    scratch = [node.temporary_bytes for node in memory.nodes]
    if any(scratch):
        figure.add_trace(
            go.Bar(
                x=[node.position + 0.5 for node in memory.nodes],
                y=[None if size is None else size / MIB for size in scratch],
                name="temporaries of a node",
                marker={"color": PURPLE, "line": {"width": 0}},
                customdata=[_label(node) for node in memory.nodes],
                hovertemplate="%{customdata}<br>%{y:,.4g} MiB beyond its outputs<extra></extra>",
            )
        )
    figure.update_xaxes(title_text="node, in the order they ran")
    figure.update_yaxes(title_text="memory (MiB)", rangemode="tozero")
    return set_title(apply(figure), ["Memory over a run"], str(memory), PLOT_PIXELS)


def _label(node: NodeMemory) -> str:
    return plain(node.node if node.op_type is None else f"{node.node} ({node.op_type})")
