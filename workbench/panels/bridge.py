"""What only the page can do: put a cell into the notebook, save a file, fill the clipboard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

import anywidget

Answered = Callable[[str | None], None]  # with None when it was done, or with the reason why not


class Bridge(anywidget.AnyWidget):
    """Asks the page for it and tells what became of that; without a page nothing answers."""

    _esm = resources.files(__package__).joinpath("static", "bridge.js").read_text("utf-8")

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[int, Answered] = {}
        self._asked = 0
        self.on_msg(self._answer)

    def insert_cell(self, root: str, source: str, outputs: list[dict[str, Any]], then: Answered) -> None:
        """A code cell with outputs, below the cell that shows the widget `root`."""
        self._ask({"kind": "cell", "root": root, "source": source, "outputs": outputs}, then)

    def download(self, name: str, mime: str, data: bytes, then: Answered) -> None:
        """A file, saved by the browser."""
        self._ask({"kind": "download", "name": name, "mime": mime}, then, [data])

    def copy(self, text: str, then: Answered) -> None:
        """Text into the clipboard."""
        self._ask({"kind": "copy", "text": text}, then)

    def _ask(self, what: dict[str, Any], then: Answered, buffers: list[bytes] | None = None) -> None:
        self._asked += 1
        self._waiting[self._asked] = then
        self.send({"id": self._asked, **what}, buffers)

    def _answer(self, _: Any, content: Mapping[str, Any], __: Any) -> None:
        """Two pages may show the panels; the first answer counts."""
        then = self._waiting.pop(content.get("id", 0), None)
        if then is not None:
            then(None if content.get("ok") else str(content.get("failed", "no reason given"))[:500])
