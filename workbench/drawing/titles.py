"""The title of a figure: a line, a smaller line, and more behind an i; pages show it as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from html import unescape
from typing import Any, NamedTuple

TITLE_MARGIN, BARE_MARGIN = 24, 10  # pixels around the lines; above a plot without any
MOST_REST = 140  # letters of the smaller line; what does not fit stands behind the i
MORE_MARK = "more"  # name of the annotation


class Title(NamedTuple):
    """The texts of a title; untrusted."""

    head: str
    rest: str
    more: tuple[str, ...]

    @property
    def is_empty(self) -> bool:
        return not (self.head or self.rest or self.more)


def title_of(sentences: Iterable[str], note: str) -> Title:
    """Split the first sentence at its first semicolon; further sentences and the note stand behind the i."""
    first, *others = [sentence for sentence in sentences if sentence] or [""]
    head, _, rest = first.partition("; ")
    rest, left_over = _cut(rest)
    return Title(head, rest, tuple(text for text in (left_over, *others, note) if text))


def take_title(figure: dict[str, Any]) -> Title:
    """Remove the title from a figure's JSON and return it."""
    layout = figure["layout"]
    if not (texts := layout.pop("meta", {}).get("title")):
        return Title("", "", ())
    head, rest, *more = map(unescape, texts)
    layout.pop("title", None)
    kept = [mark for mark in layout.get("annotations", ()) if mark.get("name") != MORE_MARK]
    layout["annotations"] = kept
    above = any(mark.get("yref") == "paper" and mark.get("y", 0) >= 1 for mark in kept)  # names of plots
    margin = TITLE_MARGIN if above else BARE_MARGIN
    layout["height"] -= layout["margin"]["t"] - margin
    layout["margin"]["t"] = margin
    return Title(head, rest, tuple(more))


def _cut(rest: str) -> tuple[str, str]:
    """Cut a long line between two of its clauses."""
    if len(rest) <= MOST_REST or "; " not in rest:
        return rest, ""
    place = rest.rfind("; ", 0, MOST_REST)
    place = place if place >= 0 else rest.find("; ")
    return rest[:place], rest[place + 2 :]
