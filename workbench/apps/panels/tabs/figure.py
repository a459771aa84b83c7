"""A figure in a panel: a MIME bundle in an Output widget; a FigureWidget would cost 5 MB."""

from __future__ import annotations

import json
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.drawing.lettering import text_width
from workbench.drawing.page.caption import caption_html
from workbench.drawing.titles import take_title

PLOTLY = "application/vnd.plotly.v1+json"
LABEL, MOST_BESIDE = 13, 110.0  # pixels of a letter and of the labels beside a figure that fits everywhere


def figure_bundle(figure: Any, summary: str) -> dict[str, Any]:
    """Return a plotly figure as JSON, and a sentence of numbers for readers that cannot draw it."""
    # Plotly's toolbar would cover data; a drag zooms, a double-click shows everything again.
    drawn = json.loads(figure.to_json()) | {"config": {"responsive": True, "displayModeBar": False}}
    return {PLOTLY: drawn, "text/plain": summary}


def titled_figure(figure: Any, summary: str) -> tuple[str, W.Output]:
    """Return the title of a figure as HTML, which wraps to the width of the panel, and the figure."""
    bundle = figure_bundle(figure, summary)
    title = caption_html(take_title(bundle[PLOTLY]))
    layout = bundle[PLOTLY]["layout"]
    # `append_display_data` would store nothing of a figure
    output = W.Output(outputs=({"output_type": "display_data", "data": bundle, "metadata": {}},))
    if "height" in layout:
        output.layout.min_height = f"{layout['height']:.0f}px"  # plotly forgets it when the window changes
    output.add_class("wbp-figure")
    labels = map(str, layout.get("yaxis", {}).get("ticktext") or ())
    beside = max((text_width(label, LABEL) for label in labels if "<" not in label), default=0.0)
    several = sum(name.startswith("xaxis") for name in layout) > 1
    if several or beside > MOST_BESIDE:
        output.add_class("wbp-several")  # axes side by side, or beside long labels, need room for titles
    return title, output
