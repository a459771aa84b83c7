"""Before and after on one axis: the density of every run above its samples, the medians at their marks."""

from __future__ import annotations

import plotly.graph_objects as go

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.measure.percentiles import Figure
from workbench.drawing.chart import Look, run_look
from workbench.drawing.palette import TEXT
from workbench.drawing.scale import Scale
from workbench.drawing.strips import (
    ABOVE,
    AXIS,
    BELOW,
    DENSITY,
    LABEL,
    ROW,
    SAMPLES,
    Strip,
    beyond_text,
    density,
    latency_data,
    spread,
)
from workbench.drawing.template import latency_axis, new_figure, set_title
from workbench.drawing.words import plain, plain_lines

_DIGITS = 3
LABEL_COLUMNS, MOST_CONFIG = 17, 44  # letters of a line beside a row, and of a config there


def latency_figure(record: ComparisonRecord, *, titled: bool = True, headline: str = "") -> go.Figure:
    """Draw a row for each run on one axis: density, samples, median.

    `titled` puts the verdict above, or `headline` where nothing is judged.
    """
    data, figure = latency_data(record), new_figure()
    count = len(data.rows)
    for index, row in enumerate(data.rows):
        look, middle = run_look(index), -float(index)
        color = TEXT if row.all_aside else look.color  # all grey if every block was disturbed
        _draw_density(figure, row, data.scale, color, middle)
        _draw_samples(figure, row, data.scale, look, middle)
        _draw_median(figure, row, data.scale, color, middle)
        if not row.drawn:
            _explain_absent(figure, row, -index)
        if row.beyond:
            figure.add_annotation(
                text=beyond_text(row, data.scale), x=1, xref="paper", xanchor="right", y=middle,
                yanchor="bottom", showarrow=False,
            )  # fmt: skip
    labels = [_label(row, index) for index, row in enumerate(data.rows)]
    figure.update_yaxes(
        tickvals=[-index for index in range(count)], ticktext=labels, range=[BELOW - count, ABOVE],
        showgrid=False, zeroline=False, fixedrange=True, ticks="",
    )  # fmt: skip
    figure.update_xaxes(**latency_axis(data.scale, "latency of one run", data.span_s, data.view_s))
    return set_title(figure, (data.title or (headline,)) if titled else (), data.note, ROW * count + AXIS)


def _label(row: Strip, index: int) -> str:
    """Return the escaped label beside a row, its letter in the colour of the run."""
    config = plain_lines(row.text, LABEL_COLUMNS, MOST_CONFIG)
    color = run_look(index).color
    return f"<span style='color:{color}'><b>{plain(row.label)}</b></span><br>{config}"


def _explain_absent(figure: go.Figure, row: Strip, height: float) -> None:
    text = "nothing was measured" if row.failure is None else "failed"
    figure.add_annotation(
        text=text, hovertext=plain_lines(row.failure or "", MOST_CONFIG), x=0.02, xref="paper",
        xanchor="left", y=height, showarrow=False,
    )  # fmt: skip


def latency_table(record: ComparisonRecord) -> DataFrame:
    """Return a row for each run; `note` says why a cell is empty."""
    rows = []
    for row in latency_data(record).rows:
        cells: dict[str, object] = {"label": row.label, "config": row.text}
        cells |= {"samples": row.measured, "samples_excluded": row.measured_aside}
        for estimate in row.estimates:
            cells |= estimate.times(1e3).cells(estimate.name, "_ms")
        notes = [f"{estimate.name}: {estimate.note}" for estimate in row.estimates if estimate.note]
        cells["note"] = "; ".join([row.failure, *notes] if row.failure else notes)
        rows.append(cells)
    return data_frame(rows)


def _draw_density(figure: go.Figure, row: Strip, scale: Scale, color: str, middle: float) -> None:
    curve = density(row.samples_s or row.aside_s, log=scale.log)
    if curve:
        area = ((curve[0][0], 0.0), *curve, (curve[-1][0], 0.0))  # the curve of a wide run starts high, at 0
        figure.add_scatter(
            x=[scale.of(place) for place, _ in area],
            y=[round(middle + DENSITY * height, 4) for _, height in area],
            mode="lines",
            line={"color": color, "width": 1.5},
            fill="toself",
            fillcolor=_faint(color),
            hoverinfo="skip",
            legendgroup="density",
            showlegend=False,
        )


def _draw_samples(figure: go.Figure, row: Strip, scale: Scale, look: Look, middle: float) -> None:
    """Draw clean samples in the run's colour, disturbed ones hollow and grey; the height means nothing."""
    for group, values_s in (("aside", row.aside_s), ("sample", row.samples_s)):
        if not values_s:
            continue
        aside = group == "aside"
        what = f"{plain(row.label)}{', excluded: machine busy' if aside else ''}"
        figure.add_scatter(
            x=[scale.of(value_s) for value_s in values_s],
            y=[round(middle + height, 3) for height in spread(len(values_s))],
            mode="markers",
            marker={
                "symbol": f"{look.symbol}-open" if aside else look.symbol,
                "size": 5,
                "color": TEXT if aside else look.color,
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
        text=["", f"<b>{scale.text(median.value, _DIGITS)}</b>"],
        textposition="top center",
        cliponaxis=False,
        hoverinfo="text",
        hovertext=plain(f"{row.label}: median {in_words(median, scale)}"),
        legendgroup="median",
        showlegend=False,
    )


def in_words(estimate: Figure, scale: Scale) -> str:
    """Return an estimate with its interval."""
    if estimate.value is None:
        return f"unknown, {estimate.note}"
    if estimate.low is None or estimate.high is None:
        return scale.text(estimate.value)
    ends = f"{scale.number(estimate.low)} to {scale.text(estimate.high)}"
    return f"{scale.text(estimate.value)}, 95 % interval {ends}"


def _faint(color: str) -> str:
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.2)"
