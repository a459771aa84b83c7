"""Options by name, of a provider, a session or a run: those that are set, and a search for the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change, own_changes
from workbench.apps.panels.table import TableWidget
from workbench.core.config import Option, catalogue

Set = Callable[[dict[str, str]], None]


class Options:
    """Shows the options of one owner that are set; a table that can be searched lists all others."""

    def __init__(self, known: Sequence[Option], changed: Set) -> None:
        self.known, self._changed = list(known), changed
        self.by_name = {option.name: option for option in self.known}
        self.values: dict[str, str] = {}  # the options as the config has them
        self.begun: list[str] = []  # added here and without a value so far
        self.shown: dict[str, tuple[W.Widget, W.Widget]] = {}  # the row and the control of an option
        self.rows = W.VBox([])
        self.name = W.Combobox(
            placeholder=f"part of a name, {len(self.known)} options",
            options=[option.name for option in self.known],
            tooltip="Name of an option to set",
        )
        hint = "Set the option with this name"
        self.add = W.Button(description="Add", tooltip=hint, classes="wbp-small")
        label, hint = f"Show all {len(self.known)}", "Every option with what it does"
        self.all = W.Button(description=label, tooltip=hint, classes="wbp-small")
        self.listing = W.VBox([])
        adding = W.HBox([self.name, self.add, self.all], classes="wbp-adding")
        self.widget = W.VBox([self.rows, adding, self.listing] if self.known else [self.rows])
        self.add.on_click(lambda _: self.begin(self.name.value.strip()))
        self.all.on_click(lambda _: self.list_all())

    def show(self, values: Mapping[str, str]) -> None:
        """Show the options as the config has them; a row that stays keeps its widgets, and so the focus."""
        self.values = dict(values)
        self.begun = [name for name in self.begun if name not in self.values]
        names = (*self.values, *self.begun)
        self.shown = {name: self.shown.get(name) or self._row(name) for name in names}
        with own_changes():
            for name, value in self.values.items():
                self.shown[name][1].value = value
        self.rows.children = [row for row, _ in self.shown.values()]

    def begin(self, name: str) -> None:
        """Add an option with its default; one without a default waits for a value."""
        if not name or name in self.values:
            return
        self.name.value = ""
        option = self.by_name.get(name)
        start = None if option is None else option.default or (option.choices[0] if option.choices else None)
        if start is None:
            self.begun = [*dict.fromkeys([*self.begun, name])]
            self.show(self.values)
        else:
            self._changed({**self.values, name: start})

    def list_all(self) -> None:
        """Open or close the table of all options."""
        if self.listing.children:
            self.listing.children = ()
            return
        rows = [(option.name, option.default, described(option)) for option in self.known]
        caption = "Pick a row to set its option."
        table = TableWidget.of_rows(("option", "default", "what it does"), rows, caption, key=0, under=2)
        on_change(table, self._picked, "picked")
        self.listing.children = (table,)

    def _picked(self, names: list[str]) -> None:
        for name in names:
            self.begin(name)

    def _row(self, name: str) -> tuple[W.Widget, W.Widget]:
        control = _control(name, self.by_name.get(name), self.values.get(name))
        on_change(control, partial(self._set, name))
        remove = W.Button(description="✕", tooltip=f"Leave {name} at its default", classes="wbp-icon")
        remove.on_click(lambda _: self._drop(name))
        row = W.HBox([control, remove], classes="wbp-option")
        return row, control

    def _set(self, name: str, value: str) -> None:
        self._changed({**self.values, name: value})

    def _drop(self, name: str) -> None:
        self.begun = [begun for begun in self.begun if begun != name]
        left = {key: value for key, value in self.values.items() if key != name}
        if left == self.values:
            self.show(self.values)
        else:
            self._changed(left)


def known_options(owner: str, *, hidden: tuple[str, ...] = ()) -> list[Option]:
    """Return the options of an owner in the catalogue that can be set here."""
    owned = [option for option in catalogue().all_options if option.owner == owner]
    return [option for option in owned if option.instead is None and option.name not in hidden]


def described(option: Option) -> str:
    """Return what an option does, which values it takes, and whether this ORT has it at all."""
    absent = " Not in this build of ORT." if option.in_this_ort is False else ""
    return f"{option.help} Values: {option.allowed}.{absent}"


def _control(name: str, option: Option | None, value: str | None) -> W.Widget:
    if option is None:
        return W.TextField(value=value or "", description=name, tooltip="not in the catalogue")
    default = "ORT decides" if option.default is None else option.default or "empty"
    hint = f"{described(option)} Default: {default}. Known from: {option.source}."
    if option.choices and (value is None or value in option.choices):
        is_switch = option.type == "bool"
        words = list(zip(("off", "on"), option.choices, strict=True)) if is_switch else option.choices
        return W.Dropdown(options=words, value=value, description=name, tooltip=hint)
    return W.TextField(value=value or "", description=name, tooltip=hint, placeholder=option.allowed)
