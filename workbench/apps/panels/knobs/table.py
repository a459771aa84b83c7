"""The knob table: every config beside the others, with what differs from A marked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import anywidget
import traitlets as t

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.environments import Environments
from workbench.apps.panels.handlers import follow, shown_in
from workbench.apps.panels.knobs.inputs_line import inputs_line, measuring_line
from workbench.apps.panels.knobs.option_row import found_options
from workbench.apps.panels.knobs.row import OPEN_DETAILS, SettingRow
from workbench.apps.panels.knobs.rows import found_rows, other_rows, standing_rows
from workbench.apps.panels.request import LABELS
from workbench.apps.panels.sections.providers import do_not_work
from workbench.core.config import Config, Provider, catalogue
from workbench.core.errors import WorkbenchError
from workbench.core.text import counted, one_line, quoted

_NAMES = {"A": "A baseline", "B": "B candidate"}
MOST_HITS = 12
_MOST_LETTERS = 200  # of a value in a cell


class KnobView(anywidget.AnyWidget):
    """Draws columns and rows in the page; what a person does arrives at `on_act` as a dict with an `act`."""

    _esm = W.static("knobs.js")

    columns: t.List[Any] = t.List(help="label, name, and what can be done with each config").tag(sync=True)
    rows: t.List[Any] = t.List(help="a row for each knob; a cell for each column").tag(sync=True)
    hits: t.List[Any] = t.List(help="rows that the search found").tag(sync=True)
    search = t.Unicode("").tag(sync=True)
    hit_count = t.Unicode("", help="how many rows the search found").tag(sync=True)
    total = t.Int(0, help="options that can be searched").tag(sync=True)

    def __init__(self, on_act: Callable[[dict[str, Any]], None]) -> None:
        super().__init__()
        self._act = on_act
        self.on_msg(self._received)

    def _received(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and "act" in content:
            self._act(content)


class KnobTable:
    """Fills the view from the state, and puts what a person does into the state."""

    def __init__(self, bench: Bench, open_section: Callable[[str, str], None]) -> None:
        self.bench, self.state, self._open = bench, bench.state, open_section
        self.status = W.HTML()
        self.view = KnobView(self.act)
        self.view.total = len(catalogue().all_options)
        self.widget = W.VBox([self.view, self.status], classes="wbp-knobs")
        self.refused: dict[tuple[str, str], str] = {}  # (label, row) → the text that was refused
        names = ["a", "b", "more", "editing", "refused", "result", "preview", "dims", "seed", "data"]
        names += ["budget_s", "smallest_effect", "pacing_s", "clock", "environments", "doctor"]
        self.state.observe(lambda _: self.refresh(), names=names)
        self.state.observe(
            lambda _: bench.preview_inputs(), names=["model", "dims", "seed", "data", "result"]
        )
        follow(self.view, self.refresh, "search")
        bench.preview_inputs()
        self.environments = Environments(bench)

    def act(self, content: dict[str, Any]) -> None:
        """Do what a person asked for in the page."""
        with shown_in(self.status):
            label, row, text = (str(content.get(name, "")) for name in ("label", "row", "value"))
            match content["act"]:
                case "set" if text == OPEN_DETAILS:
                    self._open(self.row(row).section, label)
                case "set":
                    self.set(label, row, text)
                case "copy":
                    self.copy(label, row)
                case "open":
                    self._open(text, self.state.editing)
                case "look" if self.state.doctor is None and self.state.job is None:
                    self.bench.look_at_machine()
                case "edit":
                    self.state.editing = label
                case "duplicate":
                    self.state.duplicate(label)
                case "drop":
                    self.state.drop(label)

    def set(self, label: str, row: str, text: str) -> None:
        """Set a value by its words, or by a typed text."""
        knob_row = self.row(row)
        try:
            self.bench.turn(label, row, lambda config: knob_row.changed(config, text.strip()))
        except WorkbenchError:
            self.refused = {(label, row): text}
            self.refresh()
            raise
        self.refresh()

    def copy(self, label: str, row: str) -> None:
        """Give a config what A has in a row."""
        knob_row = self.row(row)
        value = knob_row.value(self.state.a)
        self.bench.turn(label, row, lambda config: knob_row.with_value(config, value))

    def row(self, key: str) -> SettingRow:
        """Return the row with a key."""
        hit = next((row for row in (*self.rows(), *self.hits()) if row.key == key), None)
        if hit is None:
            raise WorkbenchError(
                f"{quoted(key)} is no row of the table now.", "Search for it, and set it again there."
            )
        return hit

    def rows(self) -> tuple[SettingRow, ...]:
        """Return the rows that stand in the table."""
        return (*standing_rows(self.state.environments), *other_rows(self.state.configs.values()))

    def hits(self) -> tuple[SettingRow, ...]:
        """Return the rows that the search found; none for an empty text."""
        words = self.view.search.casefold().split()
        return (*found_rows(words, self.state.environments), *found_options(words)) if words else ()

    def refresh(self) -> None:
        """Show the configs as they are now."""
        if not self.state.refused:
            self.refused = {}
            self.status.value = ""
        configs, hits, view = self.state.configs, self.hits(), self.view
        view.columns = [self._column(label) for label in configs]
        lines = [inputs_line(self.state), *measuring_line(self.state)]
        view.rows = [*(self._row_json(row, configs) for row in self.rows()), *lines]
        view.hits = [self._row_json(row, configs) for row in hits[:MOST_HITS]]
        more = f", {len(hits) - MOST_HITS} more: type another word" if len(hits) > MOST_HITS else ""
        view.hit_count = f"{counted(len(hits), 'option')}{more}" if view.search.strip() else ""

    def _column(self, label: str) -> dict[str, Any]:
        return {
            "label": label,
            "name": _NAMES.get(label, label),
            "shown": label == self.state.editing,
            "best": label == best_label(self.state),
            "drops": label != "A" and len(self.state.configs) > 2,
            "duplicates": len(self.state.configs) < len(LABELS),
        }

    def _row_json(self, row: SettingRow, configs: dict[str, Config]) -> dict[str, Any]:
        return {
            "key": row.key,
            "label": row.label,
            "help": row.help,
            "options": [*row.settings, *([OPEN_DETAILS] if row.more else [])],
            "apart": self._apart(row),
            "typed": row.typed,
            "cells": [self._cell(row, label, config, configs["A"]) for label, config in configs.items()],
        }

    def _apart(self, row: SettingRow) -> dict[str, str]:
        """Return which values of a row do not work here, with why."""
        if row.key != "providers":
            return {}
        reasons = do_not_work(self.state.doctor)
        return {Provider(name).short_name: why for name, why in reasons.items()}

    def _cell(self, row: SettingRow, label: str, config: Config, baseline: Config) -> dict[str, Any]:
        error = self.state.refused.get((label, row.key))
        typed = self.refused.get((label, row.key))
        return {
            "value": one_line(row.shown(config) if error is None or typed is None else typed, _MOST_LETTERS),
            "default": row.is_default(config),
            "differs": row.value(config) != row.value(baseline),
            "error": "" if error is None else one_line(str(error)),
        }


def best_label(state: Any) -> str:
    """Return the label of the fastest config of the comparison; empty if that is not settled."""
    result = state.result
    if result is None:
        return ""
    verdicts: Iterable[Any] = result.record.verdicts
    faster = [verdict for verdict in verdicts if verdict.kind == "faster" and verdict.bound is not None]
    return max(faster, key=lambda verdict: verdict.bound).label if faster else ""
