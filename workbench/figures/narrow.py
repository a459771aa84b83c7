"""A plotly figure in a narrow column: axes below each other, short labels, room for the texts behind bars."""

from __future__ import annotations

from html import unescape
from typing import Any

from workbench.figures.lettering import broken, fitted, text_width
from workbench.figures.words import plain

BETWEEN = 64  # pixels of the numbers and the title of an axis
LABEL, LABEL_ROOM = 13, 100.0  # pixels of a letter, and of the labels beside the rows
TEXT, TEXT_ROOM = 12, 70.0  # pixels of a letter and of a text behind a bar, or in its place
COLUMN, AXIS_ROOM = 215.0, 100.0  # pixels of labels and axis together, and of an axis at least
MOST_SHARE = 0.7  # of an axis, for the texts behind its bars
TITLE_ROOM, LEAST_ROOM, TITLE_LINE = 136.0, 60, 17  # pixels: the width of an axis title, and a line's height
FLOW, FLOW_ROOM = 13, 70.0  # pixels of a letter and of a label in a flow, whose two sides share the width
LEGEND_LINE = 19  # pixels; each name in the legend stands in a line


def fit_narrow(figure: dict[str, Any]) -> None:
    """Change the JSON of a figure to fit a column in which axes side by side, or long labels, would not."""
    layout = figure["layout"]
    names = sorted((name for name in layout if name.startswith("xaxis")), key=lambda name: int(name[5:] or 1))
    axes = [(name, f"yaxis{layout[name].get('anchor', 'y')[1:]}") for name in names]
    lines = len({tuple(layout[y].get("domain", ())) for _, y in axes if y in layout})
    title_lines = max((_break_title(layout[name]) for name in names), default=1)
    if "height" in layout and lines > 0 and (len(axes) > lines or (lines > 1 and title_lines > 1)):
        _stack(layout, axes, lines, BETWEEN + TITLE_LINE * (title_lines - 1))
    elif "height" in layout:
        layout["height"] += TITLE_LINE * (title_lines - 1)
    for _, y in axes:
        labels = layout.get(y, {}).get("ticktext")
        if labels:
            layout[y]["ticktext"] = [_short(label) for label in labels]
    texts = [trace for trace in figure["data"] if trace.get("type") == "bar" and trace.get("text")]
    for name in {f"xaxis{trace.get('xaxis', 'x')[1:]}" for trace in texts}:
        of_axis = [trace for trace in texts if f"xaxis{trace.get('xaxis', 'x')[1:]}" == name]
        _make_room(layout.get(name, {}), of_axis, _axis_room(layout, axes))
    for mark in layout.get("annotations", ()):
        if str(mark.get("xref")).endswith(" domain") and "<" not in mark["text"]:  # why a row has no value
            mark["text"] = plain(fitted(unescape(mark["text"]), TEXT, _axis_room(layout, axes)))
    for trace in figure["data"]:
        if trace.get("type") == "sankey":
            trace["node"]["label"] = [_fit(label, FLOW, FLOW_ROOM) for label in trace["node"]["label"]]
    if "height" in layout:
        layout["height"] += LEGEND_LINE * max(0, _legend_lines(figure) - 1)


def _stack(layout: dict[str, Any], axes: list[tuple[str, str]], lines: int, between: int) -> None:
    """Set axes below each other, each as high as it was, with `between` pixels for numbers and title."""
    top, count = layout.get("margin", {}).get("t", 0), len(axes)
    layout["height"] = top + count * ((layout["height"] - top) / lines + between - BETWEEN)
    gap = between / (layout["height"] - top - between)
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
    return label if "<" in label else _fit(label, LABEL, LABEL_ROOM)


def _width(text: object) -> float:
    return text_width(unescape(str(text)), TEXT)


def _fit(label: str, size: float, room: float) -> str:
    text = unescape(label)
    return plain(fitted(text, size, room, keep="end" if "/" in text else "start"))


def _legend_lines(figure: dict[str, Any]) -> int:
    """Return the number of names in the legend."""
    if not figure["layout"].get("showlegend", True):
        return 0
    return len({trace.get("name") for trace in figure["data"] if trace.get("showlegend", True)} - {None, ""})


def _break_title(axis: dict[str, Any]) -> int:
    """Break the title of an axis into lines that fit, and return their number."""
    title = axis.get("title", {}).get("text", "")
    if not title or "<" in title:
        return 1
    text = unescape(title)
    lines = broken(text, LABEL, TITLE_ROOM)
    rooms = range(LEAST_ROOM, int(TITLE_ROOM), 4)
    narrower = (broken(text, LABEL, room) for room in rooms)  # as many lines, of about one length
    even = next((parts for parts in narrower if len(parts) == len(lines) and " ".join(parts) == text), lines)
    axis["title"]["text"] = "<br>".join(map(plain, even))
    return len(even)


def _axis_room(layout: dict[str, Any], axes: list[tuple[str, str]]) -> float:
    """Return the pixels that the labels leave for an axis."""
    labels = [label for _, y in axes for label in layout.get(y, {}).get("ticktext") or () if "<" not in label]
    return max(AXIS_ROOM, COLUMN - max((text_width(unescape(label), LABEL) for label in labels), default=0.0))


def _make_room(axis: dict[str, Any], bars: list[dict[str, Any]], axis_room: float) -> None:
    """Make room at the ends of an axis for the texts behind its bars; long ones lose their parentheses."""
    if "range" not in axis:
        return
    least, most = axis["range"]
    if max(_width(text) for bar in bars for text in bar["text"]) > TEXT_ROOM:
        for bar in bars:
            bar["text"] = [str(text).split(" (")[0] for text in bar["text"]]
    share = min(MOST_SHARE, (max(_width(text) for bar in bars for text in bar["text"]) + 8) / axis_room)
    values = [value for bar in bars for value in bar["x"] if value is not None] or [0.0]
    room = share / (1 - share) * (max(0.0, *values) - min(0.0, *values))
    axis["range"] = [
        min(least, min(values) - room) if least < 0 else least,
        max(most, max(values) + room) if most > 0 else most,
    ]
