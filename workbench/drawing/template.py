"""The plotly template: it has no background and suits JupyterLab's light and dark themes."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import plotly.graph_objects as go

from workbench.drawing.lettering import broken
from workbench.drawing.palette import GRID, STRONG, TEXT
from workbench.drawing.scale import Scale, log_ticks
from workbench.drawing.titles import MORE_MARK, TITLE_MARGIN, title_of
from workbench.drawing.words import plain, plain_lines

# Narrow faces that every system has or stands in for. Plotly's own choice ends at Verdana, a third wider.
FACES = "Helvetica, Arial, sans-serif"
TITLE_ROOM = 540  # pixels: of a notebook's cell in a window of 1000, less its margins
LETTER = 14.0  # pixels; the panels draw figures larger where their own letters are
TITLE_LINE = 19  # pixels
MORE_COLUMNS, MOST_MORE = 70, 1200  # letters of a line behind the i, and of all
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
        "title": {"standoff": 8, "font": {"size": LETTER}},
        "exponentformat": "none",
        "separatethousands": True,
    }
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": -0.02, "yref": "container"}
    return go.layout.Template(
        layout=go.Layout(
            paper_bgcolor="rgba(0,0,0,0)",
            plot_bgcolor="rgba(0,0,0,0)",
            font={"color": TEXT, "size": LETTER, "family": FACES},
            colorway=STRONG,
            xaxis=axis,
            yaxis=axis,
            legend=legend,
            hovermode="closest",
            hoverlabel={"align": "left", "font": {"size": LETTER}},
            margin={"l": LEFT, "r": RIGHT, "b": BOTTOM},
        )
    )


def new_figure(data: object = None) -> go.Figure:
    """Return a figure with the template; plotly would first give it its own, which is large."""
    return go.Figure(data, layout={"template": template()})


def set_title(figure: go.Figure, sentences: Iterable[str], note: str, plot_height: float) -> go.Figure:
    """Put a title, a line and an i with the rest, all untrusted, above `plot_height` pixels of plot.

    Of the first sentence the part before the first semicolon is the title.
    """
    title = title_of(sentences, note)
    shown = [*_broken(title.head, bold=True), *_broken(title.rest, bold=False)]
    for_pages = [plain(text, MOST_MORE) for text in (title.head, title.rest, *title.more)]  # see `take_title`
    top = TITLE_LINE * len(shown) + TITLE_MARGIN
    height = top + plot_height
    if title.more:
        hidden = "<br>".join(plain_lines(text, MORE_COLUMNS, MOST_MORE) for text in title.more)
        figure.add_annotation(
            name=MORE_MARK, text="<b><i>i</i></b>", hovertext=hidden, showarrow=False, bordercolor=TEXT,
            borderpad=2, x=1, xref="paper", xanchor="right", y=1, yref="paper", yanchor="bottom",
        )  # fmt: skip
    return figure.update_layout(
        title={
            "text": "<br>".join(shown),
            "font": {"size": LETTER},
            "x": 0,
            "xanchor": "left",
            "y": 1 - 18 / height,
            "yanchor": "top",
            "yref": "container",
            "pad": {"l": LEFT},
        },
        margin={"t": top},
        height=height,
        meta={"title": for_pages},
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


def error_bars(
    ends: Iterable[tuple[float | None, float | None, float | None]], absent: float | None = None, **style: Any
) -> dict[str, Any] | None:
    """Return how far intervals (low, value, high) reach beyond their values; None where nothing is known.

    `absent` is drawn for an end that is not known.
    """

    def reach(low: float | None, high: float | None) -> float | None:
        return absent if low is None or high is None else high - low

    known = list(ends)
    above, below = [reach(value, high) for _, value, high in known], [reach(*row[:2]) for row in known]
    if all(length is None for length in (*above, *below)):
        return None
    return {"type": "data", "symmetric": False, "array": above, "arrayminus": below, **style}


def _broken(text: str, *, bold: bool) -> list[str]:
    if not text:
        return []
    lines = [plain(line) for line in broken(text, LETTER, TITLE_ROOM, bold=bold)]
    return [f"<b>{line}</b>" for line in lines] if bold else lines
