"""Widgets as a person finds them: by their kind and their words, wherever in a box they stand."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ipywidgets as W


def descendants(widget: W.Widget) -> Iterator[W.Widget]:
    """Yield a widget and all below it, from top to bottom."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from descendants(child)


def single(widget: W.Widget, kind: type) -> Any:
    """Return the one widget of a kind below another."""
    (made,) = [child for child in descendants(widget) if isinstance(child, kind)]
    return made


def buttons(widget: W.Widget) -> dict[str, W.Button]:
    """Return the buttons below a widget by their labels."""
    return {child.description: child for child in descendants(widget) if isinstance(child, W.Button)}


def htmls(widget: W.Widget) -> Iterator[str]:
    """Yield the HTML of a widget and all below it."""
    return (child.value for child in descendants(widget) if isinstance(child, W.HTML))
