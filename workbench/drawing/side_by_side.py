"""A plot for each run on the same axes, beside each other."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from workbench.drawing.template import new_figure
from workbench.drawing.words import plain

_COLUMNS = 2
BETWEEN_COLUMNS, BETWEEN_ROWS_PIXELS = 0.04, 70


def plots_of_runs(labels: Sequence[str], plot_pixels: int) -> tuple[go.Figure, float]:
    """Return empty plots, with titles if there are several, and the height of all of them."""
    columns = min(_COLUMNS, len(labels)) or 1
    rows = -(-len(labels) // columns) or 1
    height = rows * plot_pixels + (rows - 1) * BETWEEN_ROWS_PIXELS
    several = len(labels) > 1
    figure = make_subplots(
        figure=new_figure(),
        rows=rows,
        cols=columns,
        shared_xaxes="all" if several else False,
        shared_yaxes="all" if several else False,
        horizontal_spacing=BETWEEN_COLUMNS,
        vertical_spacing=BETWEEN_ROWS_PIXELS / height if rows > 1 else 0,
        subplot_titles=[f"<b>{plain(label)}</b>" for label in labels] if several else None,
    )
    return figure, height


def place(index: int, count: int) -> dict[str, int]:
    """Return the row and column of a run's plot."""
    columns = min(_COLUMNS, count) or 1
    return {"row": index // columns + 1, "col": index % columns + 1}


def name_axes(figure: go.Figure, count: int, x: str, y: str) -> None:
    """Name the vertical axis of the first column and the horizontal axis of the last plot of each column."""
    columns = min(_COLUMNS, count) or 1
    for index in range(count):
        at = place(index, count)
        figure.update_xaxes(showticklabels=True, **at)
        if index + columns >= count:
            figure.update_xaxes(title_text=x, **at)
        if at["col"] == 1:
            figure.update_yaxes(title_text=y, **at)
