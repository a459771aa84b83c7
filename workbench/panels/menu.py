"""A button with a menu of actions in groups: keys move in it, Escape closes it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import traitlets as t

from workbench.panels import widgets as W
from workbench.panels.handlers import shown_in


class Menu(anywidget.AnyWidget):
    """Tells `choose` the key of the item that a person chose, and shows its errors in `status`."""

    _esm = resources.files("workbench.panels").joinpath("static", "menu.js").read_text("utf-8")

    label = t.Unicode(help="the text of the button").tag(sync=True)
    name = t.Unicode(help="the name of button and menu for screen readers").tag(sync=True)
    groups: t.List[Any] = t.List(help="a name and items for each: key, label, hint").tag(sync=True)
    locked = t.Bool(False, help="whether nothing can be chosen, since something runs").tag(sync=True)

    def __init__(self, choose: Callable[[str], None], status: W.HTML, **traits: Any) -> None:
        super().__init__(**traits)
        self._choose, self._status = choose, status
        self.on_msg(self._received)

    def _received(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("act"), str):
            with shown_in(self._status):
                self._choose(content["act"])
