"""The title of a figure as lines: broken by plotly, or taken off and shown as HTML that wraps."""

from __future__ import annotations

from collections.abc import Iterable
from html import unescape
from typing import Any, NamedTuple

TITLE_MARGIN = 24  # pixels above and below the lines


class TitleLine(NamedTuple):
    """A line before it is broken; untrusted."""

    text: str
    is_bold: bool


def title_lines(sentences: Iterable[str], note: str) -> list[TitleLine]:
    """Return a bold line for a sentence up to its first semicolon, a plain line for the rest."""
    lines = []
    for sentence in sentences:
        head, _, rest = sentence.partition("; ")
        lines += [TitleLine(head, True), TitleLine(rest, False)]
    return [line for line in (*lines, TitleLine(note, False)) if line.text]


def take_title(figure: dict[str, Any]) -> list[TitleLine]:
    """Remove the title from a figure's JSON and return its lines."""
    layout = figure["layout"]
    lines = [TitleLine(unescape(text), is_bold) for text, is_bold in layout.pop("meta", {}).get("title", ())]
    if lines:
        del layout["title"]
        layout["height"] -= layout["margin"]["t"] - TITLE_MARGIN
        layout["margin"]["t"] = TITLE_MARGIN
    return lines
