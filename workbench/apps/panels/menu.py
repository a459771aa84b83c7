"""A button with a menu of actions in groups."""

from __future__ import annotations

from typing import Any

import traitlets as t

from workbench.apps.panels import widgets as W


class Menu(W.PageWidget):
    """A button with a menu of actions in groups: keys move in it, Escape closes it."""

    _esm = W.static("menu.js")

    label = t.Unicode(help="the text of the button").tag(sync=True)
    name = t.Unicode(help="the name of button and menu for screen readers").tag(sync=True)
    groups: t.List[Any] = t.List(help="a name and items for each: key, label, hint").tag(sync=True)
    locked = t.Bool(False, help="whether nothing can be chosen, since something runs").tag(sync=True)
