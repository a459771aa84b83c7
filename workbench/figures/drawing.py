"""Draw a chart, live or still. Plotly is imported with the first live figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.figures.chart import Chart
from workbench.figures.chart_scene import chart_scene

if TYPE_CHECKING:
    import plotly.graph_objects as go

__all__ = ["chart_figure", "chart_scene"]


def chart_figure(chart: Chart) -> go.Figure:
    """Return the chart as a plotly figure."""
    from workbench.figures import chart_figure as renderer

    return renderer.chart_figure(chart)
