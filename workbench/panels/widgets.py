"""The widgets of ipywidgets that the panels use, with one layout and one style in common.

Alone, each would bring two further models, and a fresh page receives all models before it shows anything.
`set_shown` gives a widget a layout of its own.
"""

from __future__ import annotations

from typing import Any

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


class Box(Plain, W.Box):  # type: ignore[misc]
    pass


class HBox(Plain, W.HBox):  # type: ignore[misc]
    pass


class VBox(Plain, W.VBox):  # type: ignore[misc]
    pass


class Tab(Plain, W.Tab):  # type: ignore[misc]
    pass


class HTML(Plain, W.HTML):  # type: ignore[misc]
    pass


class Label(Plain, W.Label):  # type: ignore[misc]
    pass


class Button(Plain, W.Button):  # type: ignore[misc]
    pass


class ToggleButton(Plain, W.ToggleButton):  # type: ignore[misc]
    pass


class ToggleButtons(Plain, W.ToggleButtons):  # type: ignore[misc]
    pass


class FileUpload(Plain, W.FileUpload):  # type: ignore[misc]
    pass


class Checkbox(Plain, W.Checkbox):  # type: ignore[misc]
    pass


class Dropdown(Plain, W.Dropdown):  # type: ignore[misc]
    pass


class SelectMultiple(Plain, W.SelectMultiple):  # type: ignore[misc]
    pass


class Text(Plain, W.Text):  # type: ignore[misc]
    """Tells its value when it was entered, not after each letter."""

    continuous_update = Bool(False).tag(sync=True)


class Combobox(Plain, W.Combobox):  # type: ignore[misc]
    pass


class Textarea(Plain, W.Textarea):  # type: ignore[misc]
    pass


class IntSlider(Plain, W.IntSlider):  # type: ignore[misc]
    pass


class BoundedIntText(Plain, W.BoundedIntText):  # type: ignore[misc]
    pass


class BoundedFloatText(Plain, W.BoundedFloatText):  # type: ignore[misc]
    pass
