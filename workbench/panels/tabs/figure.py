"""A figure in a panel: a MIME bundle in an Output widget; a FigureWidget would cost 5 MB."""

from __future__ import annotations

import json
from typing import Any

import ipywidgets as W

PLOTLY = "application/vnd.plotly.v1+json"


def figure_bundle(figure: Any, summary: str) -> dict[str, Any]:
    """Return a plotly figure as JSON, and a sentence of numbers for readers that cannot draw it."""
    drawn = json.loads(figure.to_json()) | {"config": {"responsive": True}}
    return {PLOTLY: drawn, "text/plain": summary}


def output_of(bundle: dict[str, Any]) -> W.Output:
    """Return an Output that shows a bundle; `append_display_data` would store nothing of a figure."""
    output = W.Output(outputs=({"output_type": "display_data", "data": bundle, "metadata": {}},))
    output.add_class("wbp-figure")
    return output
