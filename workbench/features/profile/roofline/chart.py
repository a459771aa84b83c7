"""The roofline: operations a second against operations a byte, under the peaks that ORT reached here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, log10, sqrt

import plotly.graph_objects as go

from workbench.core.text import counted, ending, in_time
from workbench.drawing.lettering import fitted, text_width
from workbench.drawing.name_places import NamedPoint, name_places
from workbench.drawing.palette import OCHRE, SLATE, TEXT
from workbench.drawing.side_by_side import name_axes, place, plots_of_runs
from workbench.drawing.template import LETTER, set_title
from workbench.drawing.words import plain
from workbench.features.profile.roofline.node_limits import INT8, NodeLimit, RooflineRecord

_MOST_POINTS = 1500
SMALLEST, LARGEST = 5, 30  # pixels; the area is the time
_PLOT_PIXELS = 380
_TICKS = [float(f"{step}e{decade}") for decade in range(-3, 5) for step in (1, 2, 5)]  # operations a byte
MOST_NAMED, MOST_NAME = 3, 22  # nodes with a name, letters of it above the plots
NAME_PIXELS = 118  # the widest name in a plot
NAME_ROOM = (150.0, 270.0)  # pixels of a plot in a narrow column, where names have the least room
PEAKS = (
    ("float32", "GFLOP/s", "float32_flops", SLATE, "solid"),
    ("int8", "GOP/s", "int8_flops", OCHRE, "dash"),
)


def roofline_figure(roofs: RooflineRecord | Mapping[str, RooflineRecord]) -> go.Figure:
    """Draw a point for each node, its area its time, in a plot for each run; the table has all nodes."""
    runs = {"": roofs} if isinstance(roofs, RooflineRecord) else dict(roofs)
    figure, height = plots_of_runs(tuple(runs), _PLOT_PIXELS)
    drawn = {label: _drawn(roofline) for label, roofline in runs.items()}
    shown: set[str] = set()
    for index, (label, roofline) in enumerate(runs.items()):
        names = _names(_ranked(roofline.nodes), drawn, label)
        for trace in (*_clouds(drawn[label], names), *_roofs(roofline, drawn[label], runs)):
            key = str(trace.name)
            trace.update(legendgroup=key, showlegend=key not in shown)
            figure.add_trace(trace, **place(index, len(runs)))
            shown.add(key)
    figure.update_xaxes(type="log", dtick=1)
    if len(runs) == 1:  # has room for more; plotly would write 0.2 and 0.5 as 2 and 5
        figure.update_xaxes(tickvals=_TICKS, ticktext=[f"{tick:g}" for tick in _TICKS])
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
            f"{rank} {ending(node.node, MOST_NAME)}: {in_time(node.could_gain_s or 0.0)}"
            f"{'' if _is_known(node) else ' (in the table)'}"
            for rank, node in enumerate(_ranked(roofline.nodes)[:MOST_NAMED], 1)
        )
        if winners:
            yield f"most to win{f' in {label}' if label else ''}: {winners}"


def _is_known(node: NodeLimit) -> bool:
    """Return whether a node has a place in the plot; one that only moves data has none."""
    return bool(node.flops and node.bytes_moved and node.time_s and node.calls_per_run)


def _drawn(roofline: RooflineRecord) -> list[NodeLimit]:
    return sorted(filter(_is_known, roofline.nodes), key=lambda node: -node.time_s)[:_MOST_POINTS]


def _clouds(drawn: list[NodeLimit], names: Mapping[NodeLimit, tuple[str, str]]) -> Iterator[go.Scatter]:
    for name, int8, symbol, color in (
        ("float32 and others", False, "circle", SLATE),
        ("int8", True, "diamond", OCHRE),
    ):
        nodes = [node for node in drawn if (node.op_type in INT8) is int8]
        if not nodes:
            continue
        longest = max(node.time_s for node in nodes)
        places, rates = zip(*map(_place, nodes), strict=True)
        yield go.Scatter(
            x=places,
            y=rates,
            mode="markers+text",
            text=[plain(names[node][0]) if node in names else "" for node in nodes],
            textposition=[names[node][1] if node in names else "top center" for node in nodes],
            name=name,
            marker={
                "symbol": symbol,
                "color": color,
                "opacity": 0.75,
                "size": [_size(node, longest) for node in nodes],
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


def _names(
    ranked: Sequence[NodeLimit], drawn: Mapping[str, list[NodeLimit]], label: str
) -> dict[NodeLimit, tuple[str, str]]:
    """Return the name and its place for the drawn nodes of this run with most to win; numbers are ranks."""
    shown = set(drawn[label])
    named = [node for node in ranked if node in shown][:MOST_NAMED]
    everywhere = [_place(node) for nodes in drawn.values() for node in nodes]
    ends = [(_log(min(values)), _log(max(values))) for values in zip(*everywhere, strict=True)]
    points, texts = [], []
    for node in named:
        texts.append(fitted(f"{ranked.index(node) + 1} {_leaf(node)}", LETTER, NAME_PIXELS))
        right, up = (
            (_log(value) - low) / (high - low or 1.0)
            for value, (low, high) in zip(_place(node), ends, strict=True)
        )
        radius = _size(node, max(other.time_s for other in drawn[label])) / 2
        width = text_width(texts[-1], LETTER)
        points.append(NamedPoint(right * NAME_ROOM[0], (1 - up) * NAME_ROOM[1], radius, width))
    return dict(zip(named, zip(texts, name_places(points, *NAME_ROOM), strict=True), strict=True))


def _place(node: NodeLimit) -> tuple[float, float]:
    """Return the operations a byte of a drawn node, and its billions of operations a second."""
    flops = node.flops or 0
    return flops / (node.bytes_moved or 1), flops * node.calls_per_run / node.time_s / 1e9


def _log(value: float) -> float:
    return log10(value) if 0 < value < inf else 0.0


def _size(node: NodeLimit, longest_s: float) -> float:
    return SMALLEST + (LARGEST - SMALLEST) * sqrt(node.time_s / longest_s)


def _ranked(nodes: Iterable[NodeLimit]) -> list[NodeLimit]:
    """Return the nodes that lose time to their limits, the largest loss first."""
    return sorted((node for node in nodes if node.could_gain_s), key=lambda node: -(node.could_gain_s or 0))


def _leaf(node: NodeLimit) -> str:
    """Return the last part of a node's path."""
    return node.node.rstrip("/").rpartition("/")[2] or node.node


def _roofs(
    roofline: RooflineRecord, drawn: list[NodeLimit], runs: Mapping[str, RooflineRecord]
) -> Iterator[go.Scatter]:
    peaks = roofline.peaks
    if peaks.bytes_per_s is None:
        return
    intensities = [_place(node)[0] for node in drawn] or [1.0]
    for name, unit, field, color, dash in PEAKS:
        peak = getattr(peaks, field)
        if peak is None:
            continue
        ridge = peak / peaks.bytes_per_s
        left, right = min(*intensities, ridge) / 2, max(*intensities, ridge) * 2
        yield go.Scatter(
            x=[left, ridge, right],
            y=[left * peaks.bytes_per_s / 1e9, peak / 1e9, peak / 1e9],
            mode="lines",
            name=f"{_peaks_text(name, field, runs)} {unit}",
            line={"color": color, "dash": dash},
            hoverinfo="skip",
        )


def _peaks_text(name: str, field: str, runs: Mapping[str, RooflineRecord]) -> str:
    """Return a peak in billions a second, for each run where they differ."""
    peaks = {label: getattr(roofline.peaks, field) for label, roofline in runs.items()}
    texts = {label: f"{peak / 1e9:,.0f}" for label, peak in peaks.items() if peak is not None}
    if len(set(texts.values())) == 1:
        return f"{name} peak, {next(iter(texts.values()))}"
    return f"{name}, {', '.join(f'{label} {text}' for label, text in texts.items())}"
