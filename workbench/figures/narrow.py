"""A plotly figure in a narrow column: axes below each other, short labels, room for the texts behind bars."""

from __future__ import annotations

from html import unescape
from typing import Any

from workbench.figures.lettering import fitted
from workbench.figures.words import plain

BETWEEN = 64  # pixels of the numbers and the title of an axis
LABEL, LABEL_ROOM = 13, 100.0  # pixels of a letter, and of the labels beside the rows
TEXT_SHARE = 0.25  # of an axis, more than a wide figure leaves for the texts behind its bars


def fit_narrow(figure: dict[str, Any]) -> None:
    """Change the JSON of a figure to fit a column in which axes side by side, or long labels, would not."""
    layout = figure["layout"]
    names = sorted((name for name in layout if name.startswith("xaxis")), key=lambda name: int(name[5:] or 1))
    axes = [(name, f"yaxis{layout[name].get('anchor', 'y')[1:]}") for name in names]
    lines = len({tuple(layout[y].get("domain", ())) for _, y in axes if y in layout})
    if len(axes) > lines > 0 and "height" in layout:
        _stack(layout, axes, lines)
    for _, y in axes:
        labels = layout.get(y, {}).get("ticktext")
        if labels:
            layout[y]["ticktext"] = [_short(label) for label in labels]
    texts = [trace for trace in figure["data"] if trace.get("type") == "bar" and trace.get("text")]
    for name in {f"xaxis{trace.get('xaxis', 'x')[1:]}" for trace in texts}:
        _widen(layout.get(name, {}))


def _stack(layout: dict[str, Any], axes: list[tuple[str, str]], lines: int) -> None:
    """Set axes below each other, each as high as it was."""
    top, count = layout.get("margin", {}).get("t", 0), len(axes)
    layout["height"] = top + count * (layout["height"] - top) / lines
    gap = BETWEEN / (layout["height"] - top - BETWEEN)
    share = (1 - gap * (count - 1)) / count
    ends = [1 - at * (share + gap) for at in range(count)]
    title = next((layout[y]["title"] for _, y in axes if "title" in layout[y]), None)
    for (x, y), end in zip(axes, ends, strict=True):
        layout[x] |= {"domain": [0.0, 1.0], "showticklabels": True}
        layout[y] |= {"domain": [max(0.0, end - share), end], "showticklabels": True}
        if title is not None:
            layout[y].setdefault("title", title)
    names = [mark for mark in layout.get("annotations", ()) if _is_name(mark)]
    for mark, end in zip(names, ends, strict=False):
        mark |= {"x": 0.5, "y": end}


def _is_name(mark: dict[str, Any]) -> bool:
    """Return whether an annotation is the name of a plot above it."""
    return mark.get("xref") == mark.get("yref") == "paper" and mark.get("yanchor") == "bottom"


def _short(label: str) -> str:
    """Return a label cut to its room; one with tags was broken into lines already."""
    if "<" in label:
        return label
    text = unescape(label)
    return plain(fitted(text, LABEL, LABEL_ROOM, keep="end" if "/" in text else "start"))


def _widen(axis: dict[str, Any]) -> None:
    """Make room at the ends at which texts stand behind bars."""
    if "range" in axis:
        least, most = axis["range"]
        room = TEXT_SHARE * (most - least)
        axis["range"] = [least - room if least < 0 else least, most + room if most > 0 else most]
