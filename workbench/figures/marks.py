"""Parts of a row of the latency figure: points, a median with its interval, a grey legend."""

from __future__ import annotations

import plotly.graph_objects as go

from workbench.figures.palette import TEXT, RunStyle
from workbench.figures.scale import Scale
from workbench.figures.strips import Strip
from workbench.figures.words import plain
from workbench.judge.percentiles import Estimate

CLOUD, CLOUD_ASIDE = (0.56, 0.95), (0.36, 0.5)  # of a strip's height
MARKS = 0.15
GOLDEN = 0.6180339887498949  # its multiples spread evenly whatever their number
MEANINGS = {
    "sample": ({"symbol": "circle", "size": 6}, "sample"),
    "aside": ({"symbol": "circle-open", "size": 6}, "set aside: other work"),
    "median": ({"symbol": "line-ns-open", "size": 18, "line": {"width": 3}}, "median"),
    "interval": ({"symbol": "square", "size": 10, "opacity": 0.45}, "95 % interval"),
    "p90": ({"symbol": "asterisk-open", "size": 10, "line": {"width": 2}}, "p90"),
    "p99": ({"symbol": "x-thin-open", "size": 10, "line": {"width": 2}}, "p99"),
}


def draw_samples(figure: go.Figure, row: Strip, scale: Scale, style: RunStyle, axis: str) -> None:
    """Draw clean samples in the run's colour, samples set aside hollow and grey."""
    for group, values_s in (("aside", row.aside_s), ("sample", row.samples_s)):
        if not values_s:
            continue
        aside = group == "aside"
        what = f"{plain(row.label)}{', set aside' if aside else ''}"
        figure.add_scatter(
            x=[scale.of(value_s) for value_s in values_s],
            y=_spread(len(values_s), *(CLOUD_ASIDE if aside and row.measured else CLOUD)),
            yaxis=axis,
            mode="markers",
            marker={
                "symbol": f"{style.symbol}-open" if aside else style.symbol,
                "size": 5,
                "color": TEXT if aside else style.color,
                "opacity": 0.7,
            },
            hovertemplate=f"%{{x:.4~g}} {scale.unit}<extra>{what}</extra>",
            legendgroup=group,
            showlegend=False,
        )


def draw_marks(figure: go.Figure, row: Strip, scale: Scale, style: RunStyle, axis: str) -> None:
    """Draw the median on its interval and the known percentiles; all grey if every block was disturbed."""
    color = TEXT if row.all_aside else style.color
    if row.median.low is not None and row.median.high is not None:
        figure.add_scatter(
            x=[scale.of(row.median.low), scale.of(row.median.high)],
            y=[MARKS, MARKS],
            yaxis=axis,
            mode="lines",
            line={"color": color, "width": 12},
            opacity=0.45,
            hoverinfo="skip",
            legendgroup="interval",
            showlegend=False,
        )
    for group, estimate in (("median", row.median), ("p90", row.p90), ("p99", row.p99)):
        if estimate.value is not None:
            figure.add_scatter(
                x=[scale.of(estimate.value)],
                y=[MARKS],
                yaxis=axis,
                mode="markers",
                marker={**MEANINGS[group][0], "color": color},
                hoverinfo="text",
                hovertext=plain(f"{row.label}: {_in_words(group, estimate, scale)}"),
                legendgroup=group,
                showlegend=False,
            )


def explain(figure: go.Figure) -> None:
    """Add a grey legend of the marks; the run is named beside its row."""
    present = {trace.legendgroup for trace in figure.data}
    for group, (marker, meaning) in MEANINGS.items():
        if group in present:
            figure.add_scatter(
                x=[None],
                y=[None],
                yaxis=figure.data[0].yaxis,
                mode="markers",
                marker={**marker, "color": TEXT},
                name=meaning,
                legendgroup=group,
            )


def _spread(count: int, low: float, high: float) -> list[float]:
    """Return heights that never form a line, the same at every drawing."""
    return [round(low + (high - low) * (at * GOLDEN % 1), 3) for at in range(count)]


def _in_words(name: str, estimate: Estimate, scale: Scale) -> str:
    if estimate.value is None:
        return f"{name} unknown, {estimate.note}"
    between = ""
    if estimate.low is not None and estimate.high is not None:
        between = f", 95 % interval {scale.number(estimate.low)} to {scale.text(estimate.high)}"
    return f"{name} {scale.text(estimate.value)}{between}"
