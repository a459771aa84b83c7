"""Latency and processor time against threads, with and without spinning, the knee marked."""

from __future__ import annotations

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.analysis.threads.scaling import ThreadScalingRecord
from workbench.figures.palette import style_of_run
from workbench.figures.template import apply, set_title

PLOT_PIXELS = 420
KNEE_PIXELS = 16


def threads_figure(scaling: ThreadScalingRecord) -> go.Figure:
    """Latency above, processor time below; a ring marks the fewest threads near the best."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.08)
    for index, spinning in enumerate((True, False)):
        points = sorted((p for p in scaling.points if p.spinning is spinning), key=lambda p: p.threads)
        if not points:
            continue
        style = style_of_run(index)
        name = "spinning" if spinning else "not spinning"
        for row, field in ((1, "latency_s"), (2, "cpu_s")):
            values = [getattr(point, field) for point in points]
            figure.add_trace(
                go.Scatter(
                    x=[point.threads for point in points],
                    y=[None if value is None else value * 1e3 for value in values],
                    name=name,
                    legendgroup=name,
                    showlegend=row == 1,
                    mode="lines+markers",
                    line={"color": style.color, "dash": style.dash},
                    marker={"symbol": style.symbol, "size": 8},
                    hovertemplate=f"{name}, %{{x}} threads: %{{y:.4g}} ms<extra></extra>",
                ),
                row=row,
                col=1,
            )
        knee = scaling.knee(spinning=spinning)
        if knee is not None and knee.latency_s is not None:
            figure.add_trace(
                go.Scatter(
                    x=[knee.threads],
                    y=[knee.latency_s * 1e3],
                    name=f"enough ({name})",
                    mode="markers",
                    marker={
                        "symbol": "circle-open",
                        "size": KNEE_PIXELS,
                        "color": style.color,
                        "line": {"width": 2},
                    },
                    hoverinfo="skip",
                ),
                row=1,
                col=1,
            )
    counts = sorted({point.threads for point in scaling.points})
    figure.update_xaxes(tickmode="array", tickvals=counts)  # there is no thread and a half
    figure.update_xaxes(title_text="intra-op threads", row=2, col=1)
    figure.update_yaxes(title_text="latency (ms)", rangemode="tozero", row=1, col=1)
    figure.update_yaxes(title_text="processor time a run (ms)", rangemode="tozero", row=2, col=1)
    note = "a ring marks the fewest threads within 5 % of the best latency"
    return set_title(apply(figure), str(scaling).split("; "), note, PLOT_PIXELS)
