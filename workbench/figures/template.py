"""The plotly template: it has no background and suits JupyterLab's light and dark themes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import plotly.graph_objects as go

from workbench.figures.lettering import broken
from workbench.figures.palette import GRID, STRONG, TEXT
from workbench.figures.scale import Scale, log_ticks
from workbench.figures.words import plain

# Narrow faces that every system has or stands in for. Plotly's own choice ends at Verdana, a third wider.
FACES = "Helvetica, Arial, sans-serif"
NARROW_COLUMNS = 46  # letters of a line that still fit 360 pixels
TITLE_ROOM = 256  # pixels: of a figure in a panel in an output of 360, less its margins
TITLE, NOTE = 14.0, 12.0
TITLE_LINE = 19  # pixels
VIEW_ROOM = 0.03  # of the width, before the first point
LEFT, RIGHT, BOTTOM = 12, 12, 12


@cache
def template() -> go.layout.Template:
    """Return the template: no background, a faint grid, grey text that is readable on white and black."""
    axis = {
        "gridcolor": GRID,
        "linecolor": TEXT,
        "tickcolor": TEXT,
        "zerolinecolor": GRID,
        "automargin": True,
        "title": {"standoff": 8, "font": {"size": 13}},
        "exponentformat": "none",
        "separatethousands": True,
    }
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.02, "yref": "container"}
    return go.layout.Template(
        layout=go.Layout(
            paper_bgcolor="rgba(0,0,0,0)",
            plot_bgcolor="rgba(0,0,0,0)",
            font={"color": TEXT, "size": 13, "family": FACES},
            colorway=STRONG,
            xaxis=axis,
            yaxis=axis,
            legend=legend,
            hovermode="closest",
            hoverlabel={"align": "left", "font": {"size": 13}},
            margin={"l": LEFT, "r": RIGHT, "b": BOTTOM},
        )
    )


def apply(figure: go.Figure) -> go.Figure:
    """Give `figure` the template and return it."""
    return figure.update_layout(template=template())


def set_title(figure: go.Figure, sentences: Iterable[str], note: str, plot_height: float) -> go.Figure:
    """Put sentences and a smaller note, all untrusted, above a plot of `plot_height` pixels.

    Of a sentence the part before the first semicolon is bold.
    """
    shown = []
    for sentence in sentences:
        head, _, rest = sentence.partition("; ")
        shown += [f"<b>{plain(line)}</b>" for line in _broken(head, TITLE, bold=True)]
        shown += [_small(line) for line in _broken(rest, NOTE)]
    shown += [_small(line) for line in _broken(note, NOTE)]
    top = TITLE_LINE * len(shown) + 24
    height = top + plot_height
    return figure.update_layout(
        title={
            "text": "<br>".join(shown),
            "font": {"size": TITLE},
            "x": 0,
            "xanchor": "left",
            "y": 1 - 18 / height,
            "yanchor": "top",
            "yref": "container",
            "pad": {"l": LEFT},
        },
        margin={"t": top},
        height=height,
    )


def latency_axis(
    scale: Scale, title: str, span_s: tuple[float, float] | None, view_s: tuple[float, float] | None = None
) -> dict[str, object]:
    """Return an axis for values within `span_s` that shows `view_s` at first."""
    axis: dict[str, object] = {"title_text": f"{title} ({scale.unit})", "visible": span_s is not None}
    if span_s is not None and scale.log:
        ticks = log_ticks(*map(scale.of, span_s))
        return axis | {"type": "log", "tickvals": ticks, "ticktext": [f"{tick:,g}" for tick in ticks]}
    if view_s is not None:
        least, end = map(scale.of, view_s)
        axis["range"] = [least - VIEW_ROOM * (end - least), end]
    return axis


def _broken(text: str, size: float, *, bold: bool = False) -> list[str]:
    return broken(text, size, TITLE_ROOM, bold=bold) if text else []


def _small(line: str) -> str:
    return f"<span style='font-size:{NOTE:g}px'>{plain(line)}</span>"
