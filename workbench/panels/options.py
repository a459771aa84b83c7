"""Options by key, of a provider, a session or a run: those that were set, and a way to find the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets as W

from workbench.config import Option, catalogue
from workbench.panels.table import Table

Set = Callable[[dict[str, str]], None]


class Options:
    """Shows the options of one owner that were set; all others are in a table that can be searched."""

    def __init__(self, known: Sequence[Option], changed: Set) -> None:
        self.known, self._changed = list(known), changed
        self.by_name = {one.name: one for one in self.known}
        self.given: dict[str, str] = {}
        self.begun: list[str] = []  # added here and without a value so far
        self.kept: dict[str, tuple[W.Widget, W.Widget]] = {}  # of each option its row and its control
        self.showing = False
        self.rows = W.VBox([])
        self.name = W.Combobox(
            placeholder=f"one of {len(self.known)} options, or part of a name",
            options=[one.name for one in self.known],
            tooltip="Name of an option to set",
        )
        self.add = W.Button(description="Add", tooltip="Set the option with this name")
        self.all = W.Button(
            description=f"Show all {len(self.known)}", tooltip="Every option with what it does"
        )
        for button in (self.add, self.all):
            button.add_class("wbp-small")
        self.listing = W.VBox([])
        adding = W.HBox([self.name, self.add, self.all])
        adding.add_class("wbp-adding")
        self.widget = W.VBox([self.rows, adding, self.listing] if self.known else [self.rows])
        self.add.on_click(lambda _: self.begin(self.name.value.strip()))
        self.all.on_click(lambda _: self.list_all())

    def show(self, given: Mapping[str, str]) -> None:
        """The options as the config has them; a row that stays keeps its widgets, and so the focus."""
        self.given = dict(given)
        self.begun = [name for name in self.begun if name not in self.given]
        names = (*self.given, *self.begun)
        self.kept = {name: self.kept.get(name) or self._row(name) for name in names}
        self.showing = True
        for name, value in self.given.items():
            self.kept[name][1].value = value
        self.showing = False
        self.rows.children = [row for row, _ in self.kept.values()]

    def begin(self, name: str) -> None:
        """Take an option in, with its default; one without a default waits for a value."""
        if not name or name in self.given:
            return
        self.name.value = ""
        option = self.by_name.get(name)
        start = None if option is None else option.default or (option.choices[0] if option.choices else None)
        if start is None:
            self.begun = [*dict.fromkeys([*self.begun, name])]
            self.show(self.given)
        else:
            self._changed({**self.given, name: start})

    def list_all(self) -> None:
        """Open or close the table of everything that there is."""
        if self.listing.children:
            self.listing.children = ()
            return
        rows = [(one.name, one.default, told_of(one)) for one in self.known]
        caption = "Pick a row to set its option."
        table = Table.of_rows(("option", "default", "what it does"), rows, caption, key=0, under=2)
        table.observe(self._picked, names="picked")
        self.listing.children = (table,)

    def _picked(self, change: Mapping[str, Any]) -> None:
        for name in change["new"]:
            self.begin(name)

    def _row(self, name: str) -> tuple[W.Widget, W.Widget]:
        box = _control(name, self.by_name.get(name), self.given.get(name))
        box.observe(partial(self._told, name), names="value")
        away = W.Button(description="✕", tooltip=f"Leave {name} to its default")
        away.add_class("wbp-icon")
        away.on_click(lambda _: self._drop(name))
        row = W.HBox([box, away])
        row.add_class("wbp-option")
        return row, box

    def _told(self, name: str, change: Mapping[str, Any]) -> None:
        if not self.showing:
            self._changed({**self.given, name: change["new"]})

    def _drop(self, name: str) -> None:
        self.begun = [one for one in self.begun if one != name]
        left = {key: value for key, value in self.given.items() if key != name}
        if left == self.given:
            self.show(self.given)
        else:
            self._changed(left)


def known_options(owner: str, *, hidden: tuple[str, ...] = ()) -> list[Option]:
    """What the catalogue knows of an owner and lets be set here."""
    named = [one for one in catalogue().all_options if one.owner == owner]
    return [one for one in named if one.instead is None and one.name not in hidden]


def told_of(option: Option) -> str:
    """What it does, which values it takes, and whether this ORT has it at all."""
    absent = " Not in this build of ORT." if option.in_this_ort is False else ""
    return f"{option.help} Values: {option.allowed}.{absent}"


def _control(name: str, option: Option | None, value: str | None) -> W.Widget:
    if option is None:
        return W.Text(
            value=value or "", description=name, tooltip="not in the catalogue", continuous_update=False
        )
    default = "ORT decides" if option.default is None else option.default or "empty"
    hint = f"{told_of(option)} Default: {default}. Known from: {option.source}."
    if option.choices and (value is None or value in option.choices):
        words = (
            [("off", option.choices[0]), ("on", option.choices[1])]
            if option.type == "bool"
            else option.choices
        )
        return W.Dropdown(options=words, value=value, description=name, tooltip=hint)
    return W.Text(
        value=value or "", description=name, tooltip=hint, placeholder=option.allowed, continuous_update=False
    )
