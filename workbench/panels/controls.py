"""One control for each kind of knob: it shows a value of the config and says when a person changes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbench.config import Knob, Option, kinds, name_kinds
from workbench.config.runtime import Interpreter
from workbench.cpu import usable_cores
from workbench.panels import widgets as W
from workbench.panels.handlers import on_change, own_changes
from workbench.panels.options import Options

MOST_COUNT = 1_000_000
MOST_THREADS = 1024  # for the number box; the slider ends at the cores of this machine
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


def make_control(knob: Knob, changed: Changed, default: Any = None) -> Control | None:
    """Return the control of a knob; None for the kinds that have a panel of their own.

    `default` is the value of a field that nobody set: None if ORT or the machine then decides.
    """
    make = WIDGETS.get(type(knob))
    return make(knob, changed, default) if make else None


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

    def read(text: str) -> None:
        changed(partial(knob.parse, text.strip()) if text.strip() else None)

    def words(value: Any) -> str:
        return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)

    return _plain(knob, W.TextField(placeholder=knob.unset, **_named(knob)), read, words)


def _texts(knob: Knob, changed: Changed, _: Any) -> Control:
    def read(text: str) -> None:
        changed(tuple(filter(None, map(str.strip, text.splitlines()))))

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
    box = W.BoundedIntText(value=1, min=1, max=MOST_THREADS, tooltip=typed, classes="wbp-number")
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
    options = Options(known, lambda values: changed({name: text == "on" for name, text in values.items()}))
    widget = W.VBox([W.Label(value=knob.label), options.widget])
    return Control(
        knob, widget, lambda value: options.show({name: "on" if on else "off" for name, on in value})
    )


def switch(name: str) -> Option:
    """Return the option of a name that can be on or off."""
    return Option(
        "", name, "bool", None, ("off", "on"), None, None, name.replace("_", " "), "", None, None, ()
    )


WIDGETS: dict[type[Knob], Callable[[Knob, Changed, Any], Control]] = {
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
