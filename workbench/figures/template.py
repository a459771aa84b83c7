"""The plotly template: it has no background and suits JupyterLab's light and dark themes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import plotly.graph_objects as go

from workbench.figures.lettering import broken
from workbench.figures.palette import GRID, STRONG, TEXT
from workbench.figures.scale import Scale, log_ticks
from workbench.figures.titles import TITLE_MARGIN, TitleLine, title_lines
from workbench.figures.words import plain

# Narrow faces that every system has or stands in for. Plotly's own choice ends at Verdana, a third wider.
FACES = "Helvetica, Arial, sans-serif"
NARROW_COLUMNS = 46  # letters of a line that still fit 360 pixels
TITLE_ROOM = 540  # pixels: of a notebook's cell in a window of 1000, less its margins
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
    lines = title_lines(sentences, note)
    shown = [text for line in lines for text in _broken(line)]
    top = TITLE_LINE * len(shown) + TITLE_MARGIN
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
        meta={"title": [(plain(line.text), line.is_bold) for line in lines]},  # for `take_title`
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


def _broken(line: TitleLine) -> list[str]:
    if line.is_bold:
        return [f"<b>{plain(part)}</b>" for part in broken(line.text, TITLE, TITLE_ROOM, bold=True)]
    return [
        f"<span style='font-size:{NOTE:g}px'>{plain(part)}</span>"
        for part in broken(line.text, NOTE, TITLE_ROOM)
    ]
