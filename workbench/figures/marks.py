"""Parts of a row of the latency figure: the density, the samples, the median with its interval."""

from __future__ import annotations

import plotly.graph_objects as go

from workbench.figures.density import density
from workbench.figures.palette import TEXT, RunStyle
from workbench.figures.scale import Scale
from workbench.figures.strips import Strip
from workbench.figures.words import plain
from workbench.judge.percentiles import Estimate

# Heights above and below the middle of a row, which is 1 high.
DENSITY, SAMPLES, LABEL = 0.44, (-0.32, -0.07), 0.47
GOLDEN = 0.6180339887498949  # its multiples spread evenly whatever their number
DIGITS = 3


def draw_row(figure: go.Figure, row: Strip, scale: Scale, style: RunStyle, middle: float) -> None:
    """Draw a run around the height `middle`; all grey if every block was disturbed."""
    color = TEXT if row.all_aside else style.color
    _draw_density(figure, row, scale, color, middle)
    _draw_samples(figure, row, scale, style, middle)
    _draw_median(figure, row, scale, color, middle)


def _draw_density(figure: go.Figure, row: Strip, scale: Scale, color: str, middle: float) -> None:
    curve = density(row.samples_s or row.aside_s, log=scale.log)
    if curve:
        figure.add_scatter(
            x=[scale.of(place) for place, _ in curve],
            y=[round(middle + DENSITY * height, 4) for _, height in curve],
            mode="lines",
            line={"color": color, "width": 1.5},
            fill="toself",
            fillcolor=_faint(color),
            hoverinfo="skip",
            legendgroup="density",
            showlegend=False,
        )


def _draw_samples(figure: go.Figure, row: Strip, scale: Scale, style: RunStyle, middle: float) -> None:
    """Draw clean samples in the run's colour, disturbed ones hollow and grey; the height means nothing."""
    for group, values_s in (("aside", row.aside_s), ("sample", row.samples_s)):
        if not values_s:
            continue
        aside = group == "aside"
        what = f"{plain(row.label)}{', disturbed: set aside' if aside else ''}"
        figure.add_scatter(
            x=[scale.of(value_s) for value_s in values_s],
            y=_spread(len(values_s), middle),
            mode="markers",
            marker={
                "symbol": f"{style.symbol}-open" if aside else style.symbol,
                "size": 5,
                "color": TEXT if aside else style.color,
                "opacity": 0.6,
            },
            hovertemplate=f"%{{x:.3~g}} {scale.unit}<extra>{what}</extra>",
            legendgroup=group,
            showlegend=False,
        )


def _draw_median(figure: go.Figure, row: Strip, scale: Scale, color: str, middle: float) -> None:
    median = row.median
    if median.value is None:
        return
    at = scale.of(median.value)
    if median.low is not None and median.high is not None:
        figure.add_scatter(
            x=[scale.of(median.low), scale.of(median.high)],
            y=[middle, middle],
            mode="lines",
            line={"color": color, "width": 8},
            opacity=0.5,
            hoverinfo="skip",
            legendgroup="interval",
            showlegend=False,
        )
    figure.add_scatter(
        x=[at, at],
        y=[middle + SAMPLES[0], middle + LABEL],
        mode="lines+text",
        line={"color": color, "width": 2.5},
        text=["", f"<b>{scale.text(median.value, DIGITS)}</b>"],
        textposition="top center",
        cliponaxis=False,
        hoverinfo="text",
        hovertext=plain(f"{row.label}: median {in_words(median, scale)}"),
        legendgroup="median",
        showlegend=False,
    )


def in_words(estimate: Estimate, scale: Scale) -> str:
    """Return an estimate with its interval."""
    if estimate.value is None:
        return f"unknown, {estimate.note}"
    if estimate.low is None or estimate.high is None:
        return scale.text(estimate.value)
    ends = f"{scale.number(estimate.low)} to {scale.text(estimate.high)}"
    return f"{scale.text(estimate.value)}, 95 % interval {ends}"


def _spread(count: int, middle: float) -> list[float]:
    """Return heights that never form a line, the same at every drawing."""
    low, high = SAMPLES
    return [round(middle + low + (high - low) * (at * GOLDEN % 1), 3) for at in range(count)]


def _faint(color: str) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.2)"
