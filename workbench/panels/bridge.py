"""What only the page can do: insert a cell, save a file, fill the clipboard, hear clicks in figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import anywidget

Answered = Callable[[str | None], None]  # called with None on success, else with the reason


class Bridge(anywidget.AnyWidget):
    """Sends requests to the page and hands over its answers; without a page nothing answers."""

    _esm = resources.files(__package__).joinpath("static", "bridge.js").read_text("utf-8")

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[int, Answered] = {}
        self._count = 0
        self.on_pick: Callable[[str], None] = lambda _: None  # gets the name of a point that was clicked
        self.on_narrow: Callable[[bool], None] = lambda _: None  # gets whether the results have little room
        self.on_msg(self._answer)

    def ask(self, then: Answered, *buffers: bytes, **content: Any) -> None:
        """Send a request of a `kind`: a cell below that of the widget `root`, a download, a copy."""
        self._count += 1
        self._waiting[self._count] = then
        self.send({"id": self._count, **content}, list(buffers) or None)

    def _answer(self, _: Any, content: Mapping[str, Any], __: Any) -> None:
        """Hand over a click, a width, or the first answer; two pages may show the panels."""
        if isinstance(content.get("narrow"), bool):
            self.on_narrow(content["narrow"])
            return
        if isinstance(content.get("pick"), str):
            self.on_pick(content["pick"])
            return
        then = self._waiting.pop(content.get("id", 0), None)
        if then is not None:
            then(None if content.get("ok") else str(content.get("failed", "no reason given"))[:500])
