"""A figure in a panel: a MIME bundle in an Output widget; a FigureWidget would cost 5 MB."""

from __future__ import annotations

import json
from typing import Any

import ipywidgets as W

PLOTLY = "application/vnd.plotly.v1+json"


def figure_bundle(figure: Any, said: str) -> dict[str, Any]:
    """A plotly figure as JSON, and a sentence of numbers where it is not drawn."""
    drawn = json.loads(figure.to_json()) | {"config": {"responsive": True}}
    return {PLOTLY: drawn, "text/plain": said}


def output_of(bundle: dict[str, Any]) -> W.Output:
    """An Output that shows it; set directly, since `append_display_data` would store nothing of a figure."""
    output = W.Output(outputs=({"output_type": "display_data", "data": bundle, "metadata": {}},))
    output.add_class("wbp-figure")
    return output
