"""The widgets of ipywidgets that the panels use, with one layout and one style in common.

Alone, each would bring two further models, and a fresh page receives all models before it shows anything.
`set_shown` gives a widget a layout of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from typing import Any

import anywidget
import ipywidgets as W
from ipywidgets import Layout as Layout
from ipywidgets import Output as Output
from ipywidgets import Widget as Widget
from traitlets import Bool

_common: dict[type, Any] = {}


def common(kind: type) -> Any:
    """Return the one layout or style of a kind; a new one after all widgets of the kernel were closed."""
    if kind not in _common or _common[kind].comm is None:
        _common[kind] = kind()
    return _common[kind]


class CommonLayout(W.Layout):  # type: ignore[misc]
    """Refuses changes, which every widget would show."""

    def notify_change(self, change: Any) -> None:
        if self.comm is not None and change["name"] in self.keys:
            raise AttributeError(f"{change['name']} of the common layout: give the widget one of its own")
        super().notify_change(change)


class Plain(W.DOMWidget):  # type: ignore[misc]
    """Has the common layout and the common style of its kind, unless it is given others.

    `classes` are the names of its classes in the style sheet, with spaces.
    """

    def __init__(self, *arguments: Any, classes: str = "", **traits: Any) -> None:
        super().__init__(*arguments, _dom_classes=classes.split(), **traits)

    def _layout_default(self) -> Any:
        return common(CommonLayout)

    def _style_default(self) -> Any:
        kind: Any = type(self)
        return common(kind.style.klass)


def set_shown(widget: Any, shown: bool) -> None:
    """Show or hide a widget."""
    if not isinstance(widget.layout, CommonLayout):
        widget.layout.display = None if shown else "none"
    elif not shown:
        widget.layout = Layout(display="none")


def close(*widgets: Any) -> None:
    """Close widgets with all that is in them: ipywidgets keeps everything that is open."""
    for widget in widgets:
        close(*getattr(widget, "children", ()))
        for look in (widget.layout, getattr(widget, "style", None)):
            if look is not None and not any(look is shared for shared in _common.values()):
                look.close()
        widget.close()


def replace(box: Any, *widgets: Any, keep: Any = None) -> None:
    """Show other widgets in a box, and close those that it no longer shows, but for the one to keep."""
    before, box.children = box.children, widgets
    close(*(gone for gone in before if not any(gone is widget for widget in (*widgets, keep))))


class HBox(Plain, W.HBox):  # type: ignore[misc]
    pass


class VBox(Plain, W.VBox):  # type: ignore[misc]
    pass


class TextField(Plain, W.Text):  # type: ignore[misc]
    """Tells its value when it was entered, not after each letter."""

    continuous_update = Bool(False).tag(sync=True)


def static(name: str) -> str:
    """Return the text of a file under `static/`."""
    return resources.files(__package__).joinpath("static", name).read_text("utf-8")


class PageWidget(anywidget.AnyWidget):
    """A widget with JavaScript of its own; `on_act` gets the key of what a person chose in the page."""

    on_act: Callable[[Any], None] = staticmethod(lambda _: None)

    def __init__(self, **traits: Any) -> None:
        super().__init__(**traits)
        self.on_msg(self.received)

    def received(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("act"), str):
            self.on_act(content["act"])


def plain(kind: type) -> type:
    """Return a kind of widget with the common layout and style."""
    return type(kind.__name__, (Plain, kind), {})


Tab: Any = plain(W.Tab)
HTML: Any = plain(W.HTML)
Button: Any = plain(W.Button)
ToggleButton: Any = plain(W.ToggleButton)
ToggleButtons: Any = plain(W.ToggleButtons)
FileUpload: Any = plain(W.FileUpload)
Checkbox: Any = plain(W.Checkbox)
Dropdown: Any = plain(W.Dropdown)
Combobox: Any = plain(W.Combobox)
