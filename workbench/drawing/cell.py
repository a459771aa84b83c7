"""What a result is as a cell's value: its numbers in words, a picture that survives sharing, a live figure.

Never `text/html` beside the picture: GitHub and nbviewer would then show neither, and JupyterLab draws no SVG
in a notebook that it does not trust.
"""

from __future__ import annotations

import json
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from workbench.drawing.scene import Scene

if TYPE_CHECKING:
    import plotly.graph_objects as go

PLOTLY = "application/vnd.plotly.v1+json"


def as_cell(
    text: str, scene: Scene | None = None, figure: go.Figure | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return data and metadata for `_repr_mimebundle_`."""
    data: dict[str, Any] = {"text/plain": text}
    about: dict[str, Any] = {}
    if scene is not None:
        data["image/png"] = b64encode(scene.to_png()).decode("ascii")
        about["image/png"] = {"width": round(scene.width)}  # it has more pixels than that
    if figure is not None:
        data[PLOTLY] = json.loads(figure.to_json())
    return data, about


def as_still(view: Any) -> dict[str, Any]:
    """Return the data of a view without the live widget."""
    made = view._repr_mimebundle_()
    data = made[0] if isinstance(made, tuple) else made
    return {mime: content for mime, content in data.items() if mime in ("text/plain", "image/png", PLOTLY)}


def as_figure(figure: go.Figure, summary: str) -> dict[str, Any]:
    """Return the data of a figure, and a sentence of numbers for readers that cannot draw it."""
    data, _ = as_cell(summary, figure=figure)
    # Plotly's toolbar would cover data; a drag zooms, a double-click shows everything again.
    data[PLOTLY]["config"] = {"responsive": True, "displayModeBar": False}
    return data
