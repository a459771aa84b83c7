"""A value with knobs of its own: a choice of its kind, and the controls of that kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

from workbench.config import Knob, Part, part_types
from workbench.panels import widgets as W
from workbench.panels.controls import Control, hint, make_control
from workbench.panels.handlers import on_change, own_changes
from workbench.panels.markup import note_html, text


class PartControl:
    """Shows one part of a config; the kinds come from the config, so a new kind appears by itself."""

    def __init__(self, knob: Knob, changed: Callable[[Any], None]) -> None:
        self.knob, self._changed = knob, changed
        self.kinds = part_types(knob.field)
        self.part: Part | None = None
        options = [(knob.unset, ""), *((kind.LABEL, name) for name, kind in self.kinds.items())]
        self.kind = W.Dropdown(options=options, value="", description=knob.label, tooltip=hint(knob))
        self.about, self.body = W.HTML(), W.VBox([], classes="wbp-part")
        self.widget = W.VBox([self.kind, self.about, self.body])
        self.controls: dict[str, Control] = {}
        self._controls_of: dict[str, dict[str, Control]] = {}  # by kind, made at its first use
        on_change(self.kind, self._choose)

    def show(self, part: Part | None) -> None:
        """Show the part that the config holds."""
        self.part, name = part, "" if part is None else part.KIND
        with own_changes():
            self.kind.value = name
        about = (type(part).__doc__ or "").strip().partition("\n")[0]
        self.about.value = "" if part is None else note_html(about)
        self._show_controls(name)
        for field, control in self.controls.items():
            control.show(getattr(part, field))

    def _choose(self, name: str) -> None:
        self._show_controls(name)  # some kinds need a value at once, such as the path of a file
        self._changed(self.kinds[name] if name else None)

    def _show_controls(self, name: str) -> None:
        """Show the controls of a kind; its widgets stay, and so does the focus in them."""
        if name and name not in self._controls_of:
            self._controls_of[name] = self._make_controls(self.kinds[name])
        controls = self._controls_of.get(name, {})
        if controls is not self.controls:
            self.controls = controls
            self.body.children = [
                widget for control in controls.values() for widget in (control.widget, help_of(control.knob))
            ]

    def _make_controls(self, kind: type[Part]) -> dict[str, Control]:
        defaults = {field.name: field.default for field in fields(kind)}  # type: ignore[arg-type]
        return {
            knob.field: control
            for knob in kind.KNOBS
            if (control := make_control(knob, partial(self._set, knob.field), defaults[knob.field]))
        }

    def _set(self, field: str, value: Any) -> None:
        kind, part = self.kinds[self.kind.value], self.part
        changed = part.changed() if isinstance(part, kind) else {}
        self._changed(lambda: kind(**{**changed, field: value() if callable(value) else value}))


def help_of(knob: Knob) -> W.HTML:
    """Return what a knob does and when to turn it, shown while the help is on."""
    return W.HTML(
        f'<div class="wbp-help">{text(knob.help)} <i>When:</i> {text(knob.when)}</div>',
        classes="wbp-help-line",
    )
