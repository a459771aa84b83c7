"""One control for each kind of knob: it shows a value of the config and says when a person changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change, own_changes
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.options import Options
from workbench.core.config import ConfigPart, Knob, Option, kinds, name_kinds, part_types
from workbench.core.config.parts import PartKnob
from workbench.core.config.runtime import Interpreter
from workbench.core.cpu import usable_cores

MOST_COUNT = 1_000_000
_MOST_THREADS = 1024  # for the number box; the slider ends at the cores of this machine
Changed = Callable[[Any], None]  # gets the new value, or a function that makes it or raises


@dataclass(frozen=True, slots=True, eq=False)
class Control:
    """The widgets of one knob."""

    knob: Knob
    widget: W.Widget
    set_value: Callable[[Any], None]

    def show(self, value: Any) -> None:
        """Show `value` without reporting a change."""
        with own_changes():
            self.set_value(value)


class PartControl:
    """The widgets of a value with knobs of its own; its kinds come from the config."""

    def __init__(self, knob: Knob, changed: Changed, _: Any = None) -> None:
        self.knob, self._changed = knob, changed
        self.kinds = part_types(knob.field)
        self.part: ConfigPart | None = None
        options = [(knob.unset, ""), *((kind.LABEL, name) for name, kind in self.kinds.items())]
        self.kind = W.Dropdown(options=options, value="", **_named(knob))
        self.about, self.body = W.HTML(), W.VBox([], classes="wbp-part")
        self.widget = W.VBox([self.kind, self.about, self.body])
        self.controls: Controls = {}
        self._controls_of: dict[str, Controls] = {"": {}}  # by kind, made at its first use
        on_change(self.kind, self._choose)

    def show(self, part: ConfigPart | None) -> None:
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
        if name not in self._controls_of:
            plain = [knob for knob in self.kinds[name].KNOBS if not isinstance(knob, PartKnob)]
            self._controls_of[name] = controls_of(self.kinds[name], plain, self._set)
        if self._controls_of[name] is not self.controls:
            self.controls = self._controls_of[name]
            self.body.children = with_help(self.controls)

    def _set(self, field: str, value: Any) -> None:
        kind, part = self.kinds[self.kind.value], self.part
        changed = part.changed() if isinstance(part, kind) else {}
        self._changed(lambda: kind(**{**changed, field: value() if callable(value) else value}))


Controls = dict[str, Control | PartControl]


def controls_of(owner: Any, knobs: Iterable[Knob], changed: Callable[[str, Any], None]) -> Controls:
    """Return the control of each knob of a dataclass by its field; a knob with a panel of its own has none.

    A field whose default is None is left to ORT or to the machine where nobody sets it.
    """
    defaults = {field.name: field.default for field in fields(owner)}
    return {
        knob.field: WIDGETS[type(knob)](knob, partial(changed, knob.field), defaults[knob.field])
        for knob in knobs
        if type(knob) in WIDGETS
    }


def with_help(controls: Controls) -> list[W.Widget]:
    """Return each control and, under it, its help, which is shown while the help is on."""
    widgets: list[W.Widget] = []
    for control in controls.values():
        words = f"{text(control.knob.help)} <i>When:</i> {text(control.knob.when)}"
        widgets += [control.widget, W.HTML(f'<div class="wbp-help">{words}</div>', classes="wbp-help-line")]
    return widgets


def hint(knob: Knob) -> str:
    """Return the tooltip: what the knob does, its default, when to turn it."""
    return f"{knob.help} When: {knob.when}"


def _choice(knob: Knob, changed: Changed, default: Any) -> Control:
    unset = [(knob.unset, None)] if default is None else []
    return _dropdown(knob, changed, [*unset, *((choice, choice) for choice in knob.choices)])


def _flag(knob: Knob, changed: Changed, _: Any) -> Control:
    return _dropdown(knob, changed, [(knob.unset, None), ("on", True), ("off", False)])


def _dropdown(knob: Knob, changed: Changed, options: list[tuple[str, Any]]) -> Control:
    values = [value for _, value in options]  # by place: ipywidgets takes the value None for no choice
    widget = W.Dropdown(options=[label for label, _ in options], **_named(knob))
    on_change(widget, lambda index: changed(values[index]), "index")
    return Control(knob, widget, lambda value: setattr(widget, "index", values.index(value)))


def _switch(knob: Knob, changed: Changed, _: Any) -> Control:
    return _plain(knob, W.Checkbox(value=False, indent=False, **_named(knob)), changed, bool)


def _typed(knob: Knob, changed: Changed, _: Any = None) -> Control:
    """Return a line of text; the knob reads it, and refuses what it cannot read."""

    def read(typed: str) -> None:
        changed(partial(knob.parse, typed.strip()) if typed.strip() else None)

    def words(value: Any) -> str:
        return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

    return _plain(knob, W.TextField(placeholder=knob.unset, **_named(knob)), read, words)


def _texts(knob: Knob, changed: Changed, _: Any) -> Control:
    def read(typed: str) -> None:
        changed(tuple(filter(None, map(str.strip, typed.splitlines()))))

    widget = W.Textarea(
        placeholder=f"{knob.unset}; one a line", continuous_update=False, rows=2, description=knob.label,
        tooltip=f"{hint(knob)} One a line.",
    )  # fmt: skip
    return _plain(knob, widget, read, "\n".join)


def _choices(knob: Knob, changed: Changed, _: Any) -> Control:
    widget = W.SelectMultiple(options=knob.choices, rows=len(knob.choices), **_named(knob))
    return _plain(knob, widget, changed, tuple)


def _count(knob: Knob, changed: Changed, default: Any) -> Control:
    if default is not None:
        return _plain(knob, W.BoundedIntText(min=1, max=MOST_COUNT, **_named(knob)), changed, int)
    return _threads(knob, changed) if knob.group == "threads" else _typed(knob, changed)


def _plain(knob: Knob, widget: W.Widget, changed: Changed, form: Callable[[Any], Any]) -> Control:
    """Return the control of a widget whose value is a `form` of the knob's value."""
    on_change(widget, changed)
    return Control(knob, widget, lambda value: setattr(widget, "value", form(value)))


def _named(knob: Knob) -> dict[str, str]:
    """Return the label and the tooltip of a knob as keywords of a widget."""
    return {"description": knob.label, "tooltip": hint(knob)}


def _threads(knob: Knob, changed: Changed) -> Control:
    """Return a box that sets the count at all, a slider, and a number box for counts beyond the slider."""
    cores = usable_cores()
    chosen = W.Checkbox(value=False, indent=False, classes="wbp-set", **_named(knob))
    slider = W.IntSlider(
        value=1, min=1, max=cores, readout=False, continuous_update=False, tooltip=hint(knob),
        classes="wbp-slider",
    )  # fmt: skip
    typed = f"{knob.label}: a number"
    box = W.BoundedIntText(value=1, min=1, max=_MOST_THREADS, tooltip=typed, classes="wbp-number")
    unset = W.Label(value=knob.unset)
    row = W.HBox([chosen, unset, slider, box], classes="wbp-count")

    def show(value: int | None) -> None:
        chosen.value = value is not None
        for widget in (slider, box):
            W.set_shown(widget, value is not None)
        W.set_shown(unset, value is None)
        if value is not None:
            slider.value, box.value = min(value, cores), value

    control = Control(knob, row, show)

    def set_count(value: int | None) -> None:
        control.show(value)
        changed(value)

    on_change(chosen, lambda on: set_count(box.value if on else None))
    on_change(slider, set_count)
    on_change(box, set_count)
    control.show(None)
    return control


def _switches(knob: Knob, changed: Changed, _: Any) -> Control:
    """Return names that can be on, off or left alone; only those that are set are shown."""
    known = [switch(name) for name in knob.choices]
    options = Options(known, lambda values: changed({name: state == "on" for name, state in values.items()}))
    widget = W.VBox([W.Label(value=knob.label), options.widget])
    return Control(
        knob, widget, lambda value: options.show({name: "on" if on else "off" for name, on in value})
    )


def switch(name: str) -> Option:
    """Return the option of a name that can be on or off."""
    return Option(
        "", name, "bool", None, ("off", "on"), None, None, name.replace("_", " "), "", None, None, ()
    )


WIDGETS: dict[type[Knob], Callable[[Knob, Changed, Any], Control | PartControl]] = {
    PartKnob: PartControl,
    kinds.Choice: _choice,
    kinds.Flag: _flag,
    kinds.Switch: _switch,
    kinds.Text: _typed,
    Interpreter: _typed,
    name_kinds.Texts: _texts,
    name_kinds.Libraries: _texts,
    name_kinds.Choices: _choices,
    kinds.Number: _typed,
    kinds.Count: _count,
    name_kinds.Switches: _switches,
}
