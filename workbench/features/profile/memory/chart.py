"""Memory of one run: node by node, and its totals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import plotly.graph_objects as go

from workbench.drawing.chart import Axis, Chart, ChartRow, mebibytes, run_look, size_value
from workbench.drawing.palette import OCHRE, SLATE, TAN, TEXT
from workbench.drawing.side_by_side import name_axes, place, plots_of_runs
from workbench.drawing.template import set_title
from workbench.drawing.words import plain
from workbench.features.profile.memory.by_node import MemoryRecord, NodeMemory

_PLOT_PIXELS = 300
_LINES = (
    ("held by the arena", "held_bytes", TEXT, "dot"),
    ("in use in the arena", "in_use_bytes", SLATE, "solid"),
    ("activations alive, by the graph", "live_bytes", OCHRE, "dash"),
)

_TOTALS = (
    ("weights", "weights_bytes"),
    ("activations alive at once", "peak_live_bytes"),
    ("in use in the arena, peak", "arena_peak_bytes"),
    ("held by the arena", "arena_held_bytes"),
)


def memory_figure(memory: MemoryRecord | Mapping[str, MemoryRecord]) -> go.Figure:
    """Draw lines over the nodes in execution order, a plot for each run; unknown sizes have no line."""
    runs = {"": memory} if isinstance(memory, MemoryRecord) else dict(memory)
    figure, height = plots_of_runs(tuple(runs), _PLOT_PIXELS)
    shown: set[str] = set()
    for index, of_run in enumerate(runs.values()):
        for trace in (*_lines(of_run), *_temporaries(of_run)):
            trace.update(legendgroup=trace.name, showlegend=trace.name not in shown)
            figure.add_trace(trace, **place(index, len(runs)))
            shown.add(trace.name)
    name_axes(figure, len(runs), "node, in the order they ran", "memory (MiB)")
    figure.update_yaxes(rangemode="tozero")
    texts = [f"{label}: {memory}" if label else str(memory) for label, memory in runs.items()]
    return set_title(figure, ["Memory over a run", *texts], "", height)


def _lines(memory: MemoryRecord) -> Iterator[go.Scatter]:
    for name, field, color, dash in _LINES:
        sizes = [getattr(node, field) for node in memory.nodes]
        if any(size is not None for size in sizes):
            yield go.Scatter(
                x=[node.position for node in memory.nodes],
                y=list(map(mebibytes, sizes)),
                name=name,
                mode="lines",
                line={"color": color, "dash": dash, "shape": "hv"},
                customdata=[_label(node) for node in memory.nodes],
                hovertemplate="%{customdata}<br>%{y:,.4g} MiB<extra></extra>",
            )


def _temporaries(memory: MemoryRecord) -> Iterator[go.Bar]:
    scratch = [node.temporary_bytes for node in memory.nodes]
    if any(scratch):
        yield go.Bar(
            x=[node.position + 0.5 for node in memory.nodes],
            y=list(map(mebibytes, scratch)),
            name="temporaries of a node",
            marker={"color": TAN, "line": {"width": 0}},
            customdata=[_label(node) for node in memory.nodes],
            hovertemplate="%{customdata}<br>%{y:,.4g} MiB beyond its outputs<extra></extra>",
        )


def _label(node: NodeMemory) -> str:
    return plain(node.node if node.op_type is None else f"{node.node} ({node.op_type})")


def memory_chart(by_label: Mapping[str, MemoryRecord]) -> Chart:
    """Return a row for each total, with a bar for each run."""
    rows = []
    for name, field in _TOTALS:
        bars = (
            size_value(getattr(memory, field), run_look(index, label))
            for index, (label, memory) in enumerate(by_label.items())
        )
        rows.append(ChartRow(name, (tuple(bars),)))
    return Chart(("Memory of a run",), (Axis("memory (MiB)"),), tuple(rows))
