"""The knob table in the page: cells that are chosen from or typed in, marks, columns, a search."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import traitlets as t


class KnobView(anywidget.AnyWidget):
    """Draws columns and rows; what a person does arrives at `on_act` as a dict with an `act`."""

    _esm = resources.files("workbench.panels").joinpath("static", "knobs.js").read_text("utf-8")

    columns: t.List[Any] = t.List(help="label, name, and what can be done with each config").tag(sync=True)
    rows: t.List[Any] = t.List(help="a row for each knob; a cell for each column").tag(sync=True)
    hits: t.List[Any] = t.List(help="rows that the search found").tag(sync=True)
    search = t.Unicode("").tag(sync=True)
    hit_count = t.Unicode("", help="how many rows the search found").tag(sync=True)
    total = t.Int(0, help="options that can be searched").tag(sync=True)

    def __init__(self, on_act: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._act = on_act
        self.on_msg(self._received)

    def _received(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and "act" in content:
            self._act(content)
