"""A value with knobs of its own: which kind it is, and the controls of that kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from functools import partial
from typing import Any

import ipywidgets as W

from workbench.config import Knob, Part, part_types
from workbench.panels.controls import Control, hint, make_control
from workbench.panels.markup import text


class PartControl:
    """The kinds come from the config, so a new one appears by itself."""

    def __init__(self, knob: Knob, changed: Callable[[Any], None]) -> None:
        self.knob, self._changed = knob, changed
        self.kinds = part_types(knob.field)
        self.part: Part | None = None
        options = [(knob.unset, ""), *((kind.LABEL, name) for name, kind in self.kinds.items())]
        self.kind = W.Dropdown(options=options, value="", description=knob.label, tooltip=hint(knob))
        self.about, self.body = W.HTML(), W.VBox([])
        self.body.add_class("wbp-part")
        self.widget = W.VBox([self.kind, self.about, self.body])
        self.controls: dict[str, Control] = {}
        self._made: dict[str, list[W.Widget]] = {}
        self._of_kind: dict[str, dict[str, Control]] = {}
        self._showing = False
        self.kind.observe(lambda change: self._picked(change["new"]), names="value")

    def show(self, part: Part | None) -> None:
        """Make the widgets say what the config holds."""
        self._showing, self.part = True, part
        try:
            name = "" if part is None else part.KIND
            self.kind.value = name
            self.about.value = "" if part is None else f'<div class="wbp-note">{text(first_line(part))}</div>'
            self.body.children = self._body(name)
            for field, control in self.controls.items():
                control.show(getattr(part, field))
        finally:
            self._showing = False

    def _picked(self, name: str) -> None:
        if not self._showing:
            self.body.children = self._body(name)  # some kinds need a value at once, such as a file's path
            self._changed(self.kinds[name] if name else None)

    def _body(self, name: str) -> list[W.Widget]:
        """The controls of a kind, made at its first use and kept."""
        if name and name not in self._made:
            kind = self.kinds[name]
            defaults = {field.name: field.default for field in fields(kind)}  # type: ignore[arg-type]
            controls = {
                knob.field: made
                for knob in kind.KNOBS
                if (made := make_control(knob, partial(self._set, knob.field), defaults[knob.field]))
            }
            self._of_kind[name] = controls
            self._made[name] = [
                widget for one in controls.values() for widget in (one.widget, help_of(one.knob))
            ]
        self.controls = self._of_kind.get(name, {})
        return self._made.get(name, [])

    def _set(self, field: str, value: Any) -> None:
        kind, part = self.kinds[self.kind.value], self.part
        changed = part.changed() if isinstance(part, kind) else {}
        self._changed(lambda: kind(**{**changed, field: value}))


def first_line(part: Part) -> str:
    """What a kind is, from its docstring."""
    return (type(part).__doc__ or "").strip().splitlines()[0]


def help_of(knob: Knob) -> W.HTML:
    """What a knob does and when to turn it; shown where a person asked for help."""
    widget = W.HTML(f'<div class="wbp-help">{text(knob.help)} <i>When:</i> {text(knob.when)}</div>')
    widget.add_class("wbp-help-line")
    return widget
