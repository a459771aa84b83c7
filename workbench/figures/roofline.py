"""The roofline: operations a second against operations a byte, under the peaks that ORT reached here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import sqrt

import plotly.graph_objects as go

from workbench.analysis.roofline.node_limits import INT8, NodeLimit, RooflineRecord
from workbench.figures.palette import OCHRE, SLATE, TEXT
from workbench.figures.side_by_side import name_axes, place, plots_of_runs
from workbench.figures.template import set_title
from workbench.figures.words import plain
from workbench.text import counted, in_ms

MOST_POINTS = 1500
SMALLEST, LARGEST = 5, 30  # pixels; the area is the time
PLOT_PIXELS = 380
TICKS = [float(f"{step}e{decade}") for decade in range(-3, 5) for step in (1, 2, 5)]  # operations a byte
MOST_NAMED, MOST_NAME = 3, 22  # nodes with a name, letters of it
NAME_PLACES = ("top", "bottom", "middle")  # so that names of near nodes stay apart


def roofline_figure(roofs: RooflineRecord | Mapping[str, RooflineRecord]) -> go.Figure:
    """Draw a point for each node, its area its time, in a plot for each run; the table has all nodes."""
    runs = {"": roofs} if isinstance(roofs, RooflineRecord) else dict(roofs)
    figure, height = plots_of_runs(tuple(runs), PLOT_PIXELS)
    drawn = {label: _drawn(roofline) for label, roofline in runs.items()}
    shown: set[str] = set()
    for index, (label, roofline) in enumerate(runs.items()):
        for trace in (*_clouds(drawn[label]), *_roofs(roofline, drawn[label])):
            key = str(trace.name)  # the peaks of runs with other thread counts are others
            trace.update(legendgroup=key, showlegend=key not in shown)
            figure.add_trace(trace, **place(index, len(runs)))
            shown.add(key)
    figure.update_xaxes(type="log", dtick=1)
    if len(runs) == 1:  # has room for more; plotly would write 0.2 and 0.5 as 2 and 5
        figure.update_xaxes(tickvals=TICKS, ticktext=[f"{tick:g}" for tick in TICKS])
    figure.update_yaxes(type="log", dtick=1)
    name_axes(figure, len(runs), "operations a byte moved (1/byte)", "operations a second (GOP/s)")
    unseen = sum(len(roofline.nodes) - len(drawn[label]) for label, roofline in runs.items())
    note = (
        f"only in the table, since they compute nothing or their work is not known: {counted(unseen, 'node')}"
    )
    title = f"How far nodes are from the limits of this machine; {'; '.join(_most_to_win(runs))}"
    texts = [f"{label}: {roofline}" if label else str(roofline) for label, roofline in runs.items()]
    return set_title(figure, [title, *texts], note, height)


def _most_to_win(runs: Mapping[str, RooflineRecord]) -> Iterator[str]:
    """Yield the nodes of each run that lose most time to their limits."""
    for label, roofline in runs.items():
        winners = ", ".join(
            f"{_short(node)} {in_ms(node.could_gain_s, 3)}" for node in _winners(roofline.nodes)
        )
        if winners:
            yield f"most to win{f' in {label}' if label else ''}: {winners}"


def _drawn(roofline: RooflineRecord) -> list[NodeLimit]:
    known = (
        node
        for node in roofline.nodes
        if node.flops and node.bytes_moved and node.time_s and node.calls_per_run
    )
    return sorted(known, key=lambda node: -node.time_s)[:MOST_POINTS]


def _clouds(drawn: list[NodeLimit]) -> Iterator[go.Scatter]:
    winners = _winners(drawn)
    for name, int8, symbol, color in (
        ("float32 and others", False, "circle", SLATE),
        ("int8", True, "diamond", OCHRE),
    ):
        nodes = [node for node in drawn if (node.op_type in INT8) is int8]
        if nodes:
            yield _points(nodes, winners, name, symbol, color)


def _points(nodes: list[NodeLimit], named: list[NodeLimit], name: str, symbol: str, color: str) -> go.Scatter:
    longest = max(node.time_s for node in nodes)
    rates = [(node.flops or 0) * node.calls_per_run / node.time_s / 1e9 for node in nodes]
    places = [(node.flops or 0) / (node.bytes_moved or 1) for node in nodes]
    middle = sqrt(min(places) * max(places))
    return go.Scatter(
        x=places,
        y=rates,
        mode="markers+text",
        text=[plain(_short(node)) if node in named else "" for node in nodes],
        textposition=[_name_place(node, named, middle) for node in nodes],
        name=name,
        marker={
            "symbol": symbol,
            "color": color,
            "opacity": 0.75,
            "size": [SMALLEST + (LARGEST - SMALLEST) * (node.time_s / longest) ** 0.5 for node in nodes],
            "line": {"color": TEXT, "width": 1},
        },
        customdata=[
            [plain(node.node), plain(node.op_type), node.time_s * 1e3, plain(_reached(node))]
            for node in nodes
        ],
        hovertemplate="%{customdata[0]}<br>%{customdata[1]}, %{customdata[2]:.4g} ms a run<br>"
        "%{customdata[3]}<extra></extra>",
    )


def _reached(node: NodeLimit) -> str:
    if node.achieved is None:
        return "its limit is not known"
    return f"{node.achieved:.0%} of its limit, bound by {node.bound}"


def _name_place(node: NodeLimit, named: list[NodeLimit], middle: float) -> str:
    """Return the place of a name beside its point, on the side that has room; nodes without one have any."""
    place = NAME_PLACES[named.index(node)] if node in named else "top"
    return f"{place} {'right' if (node.flops or 0) / (node.bytes_moved or 1) <= middle else 'left'}"


def _winners(nodes: Iterable[NodeLimit]) -> list[NodeLimit]:
    """Return the nodes that lose most time to their limits, the largest loss first."""
    return sorted((node for node in nodes if node.could_gain_s), key=lambda node: -(node.could_gain_s or 0))[
        :MOST_NAMED
    ]


def _short(node: NodeLimit) -> str:
    """Return the end of a node's name, which tells it from others."""
    return node.node if len(node.node) <= MOST_NAME else f"…{node.node[-MOST_NAME:]}"


def _roofs(roofline: RooflineRecord, drawn: list[NodeLimit]) -> Iterator[go.Scatter]:
    peaks = roofline.peaks
    if peaks.bytes_per_s is None:
        return
    intensities = [(node.flops or 0) / (node.bytes_moved or 1) for node in drawn] or [1.0]
    for name, unit, peak, color, dash in (
        ("float32 peak", "GFLOP/s", peaks.float32_flops, SLATE, "solid"),
        ("int8 peak", "GOP/s", peaks.int8_flops, OCHRE, "dash"),
    ):
        if peak is None:
            continue
        ridge = peak / peaks.bytes_per_s
        left, right = min(*intensities, ridge) / 2, max(*intensities, ridge) * 2
        yield go.Scatter(
            x=[left, ridge, right],
            y=[left * peaks.bytes_per_s / 1e9, peak / 1e9, peak / 1e9],
            mode="lines",
            name=f"{name}, {peak / 1e9:,.0f} {unit}",
            line={"color": color, "dash": dash},
            hoverinfo="skip",
        )
