"""One control for each kind of knob: it shows a value of the config and says when a person changed it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import ipywidgets as W

from workbench.config import Knob, Option, kinds, name_kinds
from workbench.config.runtime import Interpreter
from workbench.cpu import usable_cores
from workbench.panels.options import Options

MOST_COUNT = 1_000_000
MOST_THREADS = 1024  # what the number box takes; the slider ends at the cores that there are
Changed = Callable[[Any], None]


@dataclass(eq=False, slots=True)
class Control:
    """The widgets of one knob; `show` sets them without telling anybody."""

    knob: Knob
    widget: W.Widget
    set_value: Callable[[Any], None]
    quiet: list[bool] = field(default_factory=list)

    def show(self, value: Any) -> None:
        """Make the widgets say `value`."""
        with self.quietly():
            self.set_value(value)

    @contextmanager
    def quietly(self) -> Iterator[None]:
        """Changes made inside come from us and not from a person."""
        self.quiet.append(True)
        try:
            yield
        finally:
            self.quiet.pop()

    def listen(self, widget: W.Widget, changed: Callable[[Any], None], name: str = "value") -> None:
        """Call `changed` with the new value when a person sets it."""

        def told(change: Any) -> None:
            if not self.quiet:
                changed(change["new"])

        widget.observe(told, names=name)


def make_control(knob: Knob, changed: Changed, default: Any = None) -> Control | None:
    """The control of a knob; None for the kinds that have a panel of their own.

    `default` is what the field holds when nobody set it: None where ORT or the machine then decides.
    """
    maker = _MAKERS.get(type(knob))
    return maker(knob, changed, default) if maker else None


def hint(knob: Knob) -> str:
    """What a tooltip says: what it does, its default, when to turn it."""
    return f"{knob.help} When: {knob.when}"


def _choice(knob: Knob, changed: Changed, default: Any) -> Control:
    unset = [(knob.unset, None)] if default is None else []
    return _dropdown(knob, changed, [*unset, *((choice, choice) for choice in knob.choices)])


def _flag(knob: Knob, changed: Changed, _: Any) -> Control:
    return _dropdown(knob, changed, [(knob.unset, None), ("on", True), ("off", False)])


def _dropdown(knob: Knob, changed: Changed, options: list[tuple[str, Any]]) -> Control:
    values = [value for _, value in options]  # by place: to ipywidgets the value None is no choice at all
    widget = W.Dropdown(options=[label for label, _ in options], description=knob.label, tooltip=hint(knob))
    control = Control(knob, widget, lambda value: setattr(widget, "index", values.index(value)))
    control.listen(widget, lambda index: changed(values[index]), "index")
    return control


def _switch(knob: Knob, changed: Changed, _: Any) -> Control:
    widget = W.Checkbox(value=False, description=knob.label, tooltip=hint(knob), indent=False)
    control = Control(knob, widget, lambda value: setattr(widget, "value", bool(value)))
    control.listen(widget, changed)
    return control


def _text(knob: Knob, changed: Changed, _: Any) -> Control:
    return _typed(knob, changed, lambda text: text, str)


def _number(knob: Knob, changed: Changed, _: Any) -> Control:
    return _typed(knob, changed, number, lambda value: f"{value:g}")


def _typed(knob: Knob, changed: Changed, read: Callable[[str], Any], write: Callable[[Any], str]) -> Control:
    """A line of text; the value is made by the config, so that what cannot be read is refused there."""
    widget = W.Text(
        value="", description=knob.label, tooltip=hint(knob), placeholder=knob.unset, continuous_update=False
    )
    control = Control(
        knob, widget, lambda value: setattr(widget, "value", "" if value is None else write(value))
    )
    control.listen(widget, lambda text: changed(read(text.strip()) if text.strip() else None))
    return control


def _texts(knob: Knob, changed: Changed, _: Any) -> Control:
    widget = W.Textarea(
        value="", description=knob.label, tooltip=f"{hint(knob)} One a line.",
        placeholder=f"{knob.unset}; one a line", continuous_update=False, rows=2,
    )  # fmt: skip
    control = Control(knob, widget, lambda value: setattr(widget, "value", "\n".join(value)))
    control.listen(widget, lambda text: changed(tuple(filter(None, map(str.strip, text.splitlines())))))
    return control


def _count(knob: Knob, changed: Changed, default: Any) -> Control:
    if default is not None:
        return _whole(knob, changed)
    return _threads(knob, changed) if knob.group == "threads" else _typed(knob, changed, whole, str)


def _whole(knob: Knob, changed: Changed) -> Control:
    widget = W.BoundedIntText(min=1, max=MOST_COUNT, description=knob.label, tooltip=hint(knob))
    control = Control(knob, widget, lambda value: setattr(widget, "value", value))
    control.listen(widget, changed)
    return control


def _threads(knob: Knob, changed: Changed) -> Control:
    """A box to say that it is set at all, a slider, and a number box, which a slider alone cannot replace."""
    cores = usable_cores()
    chosen = W.Checkbox(value=False, description=knob.label, tooltip=hint(knob), indent=False)
    slider = W.IntSlider(
        value=1, min=1, max=cores, readout=False, continuous_update=False, tooltip=hint(knob)
    )
    box = W.BoundedIntText(value=1, min=1, max=MOST_THREADS, tooltip=f"{knob.label}: a number")
    unset = W.Label(value=knob.unset)
    row = W.HBox([chosen, unset, slider, box])
    for widget, name in ((row, "count"), (chosen, "set"), (slider, "slider"), (box, "number")):
        widget.add_class(f"wbp-{name}")

    def show(value: int | None) -> None:
        chosen.value = value is not None
        for widget in (slider, box):
            widget.layout.display = None if value is not None else "none"
        unset.layout.display = "none" if value is not None else None
        if value is not None:
            slider.value, box.value = min(value, cores), value

    def told(value: int | None) -> None:
        control.show(value)
        changed(value)

    control = Control(knob, row, show)
    control.listen(chosen, lambda on: told(box.value if on else None))
    control.listen(slider, told)
    control.listen(box, told)
    control.show(None)
    return control


def _switches(knob: Knob, changed: Changed, _: Any) -> Control:
    """Names that can be on, off or left alone; only those that were set are shown."""
    known = [switch(name) for name in knob.choices]
    options = Options(known, lambda given: changed({name: text == "on" for name, text in given.items()}))
    widget = W.VBox([W.Label(value=knob.label), options.widget])
    return Control(
        knob, widget, lambda value: options.show({name: "on" if on else "off" for name, on in value})
    )


def switch(name: str) -> Option:
    """One of several names that can be on or off."""
    return Option(
        "", name, "bool", None, ("off", "on"), None, None, name.replace("_", " "), "", None, None, ()
    )


def number(text: str) -> Any:
    """A number where the text is one; else the text, which the config refuses in its own words."""
    try:
        return float(text)
    except ValueError:
        return text


def whole(text: str) -> Any:
    """The same for a whole number."""
    return int(text) if text.isdecimal() and len(text) < 20 else text


_MAKERS: dict[type[Knob], Callable[[Knob, Changed, Any], Control]] = {
    kinds.Choice: _choice,
    kinds.Flag: _flag,
    kinds.Switch: _switch,
    kinds.Text: _text,
    Interpreter: _text,
    name_kinds.Texts: _texts,
    kinds.Number: _number,
    kinds.Count: _count,
    name_kinds.Switches: _switches,
}
