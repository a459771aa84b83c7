"""The configs on the screen: their lines, the palette that changes them, and the table of all settings."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import traitlets as t

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import follow, guarded
from workbench.apps.panels.knobs.details import detail_rows
from workbench.apps.panels.knobs.environments import Environments
from workbench.apps.panels.knobs.option_row import entries_have_rows, option_rows
from workbench.apps.panels.knobs.row import SettingRow
from workbench.apps.panels.knobs.rows import standing_rows
from workbench.apps.panels.knobs.shared_row import line, preview_line, shared_rows
from workbench.apps.panels.request import LABELS
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config, Provider, catalogue
from workbench.core.errors import WorkbenchError
from workbench.core.text import counted, one_line, quoted
from workbench.drawing.markup import note_html, text
from workbench.features.doctor.presets import PRESETS
from workbench.features.doctor.provider_words import about_providers, do_not_work, plugins

_NAMES = {"A": "A baseline", "B": "B candidate"}
CHIEF = ("level", "precision", "providers", "intra_op_threads")  # in view in the line of each config
MOST_HITS = 40
_MOST_LETTERS = 200  # of a value in a cell
_FOLLOWED = (
    "configs", "editing", "refused", "answer", "preview", "model", "dims", "seed", "data",
    "calibration", "budget_s", "smallest_effect", "pacing_s", "clock", "environments", "doctor",
)  # fmt: skip
_SAME, _SWAP, _ADD = "make it the same as A", "swap with A", "add a config like it"
_COMMANDS = {_SAME: "Copy all settings of A", _SWAP: "A and this one change places", _ADD: "One more line"}
_AS_IN_PAGE = ("key", "label", "help", "group", "typed", "more", "inner")  # fields of a row


class KnobView(W.PageWidget):
    """Draws lines, palette and table in the page; what a person does arrives at `on_act` as a dict."""

    _esm = W.static("knobs.js")

    columns: t.List[Any] = t.List(help="label, name, and what can be done with each config").tag(sync=True)
    rows: t.List[Any] = t.List(help="a row for each knob; a cell for each column").tag(sync=True)
    hits: t.List[Any] = t.List(help="rows that the search found").tag(sync=True)
    commands: t.List[Any] = t.List(help="key, label and hint of what changes a whole config").tag(sync=True)
    search = t.Unicode("").tag(sync=True)
    found = t.Unicode("", help="the search that the hits answer").tag(sync=True)
    hit_count = t.Unicode("", help="how many rows the search found").tag(sync=True)
    total = t.Int(0, help="options that can be searched").tag(sync=True)
    drawer = t.Bool(False, help="whether the table is on the screen").tag(sync=True)
    undoes = t.Bool(False).tag(sync=True)
    redoes = t.Bool(False).tag(sync=True)

    def received(self, _: Any, content: Any, __: Any) -> None:
        if isinstance(content, dict) and "act" in content:
            self.on_act(content)


class KnobTable:
    """Fills the view from the state, and puts what a person does into the state."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.difference = W.HTML(), W.HTML()
        self.view = KnobView(total=len(catalogue().all_options))
        self.view.on_act = guarded(self.act, self.status)
        presets = [(preset.name, f"preset: {preset.name}", preset.hint) for preset in PRESETS]
        self.view.commands = [
            {"key": key, "label": label, "hint": hint, "last": key in _COMMANDS}
            for key, label, hint in (*presets, *((name, name, hint) for name, hint in _COMMANDS.items()))
        ]
        self.widget = W.VBox([self.view, self.status, self.difference], classes="wbp-knobs")
        self.opened: set[str] = set()  # keys of the rows whose details stand below them
        self._refreshing = threading.RLock()  # two threads do; the last one must have read the newest state
        self.state.observe(lambda _: self.refresh(), names=_FOLLOWED)
        follow(self.state, self._forget, "model", "configs", "refused")
        follow(self.view, self.refresh, "search", "drawer")
        follow(self.state, bench.preview_inputs, "model", "dims", "seed", "data")
        self.state.observe(self._answered, names="answer")
        self.environments = Environments(bench)

    def _answered(self, change: dict[str, Any]) -> None:
        """Follow another comparison; a further result beside the same one changes nothing here."""
        if change["old"].result is not change["new"].result:
            self._forget()
            self.bench.preview_inputs()

    def act(self, content: dict[str, Any]) -> None:
        """Do what a person asked for in the page."""
        state = self.state
        label, row, value = (str(content.get(name, "")) for name in ("label", "row", "value"))
        match content["act"]:
            case "set":
                self.set(label, row, value)
            case "copy":
                self.copy(label, row)
            case "command":
                self.command(label, value)
            case "details":
                self.opened = self.opened | {row} if value else self.opened - {row}
                self.look(row == "providers")
                self.refresh()
            case "look":
                self.look(True)
            case "edit":
                state.editing = label
            case "duplicate" | "drop" as change:
                getattr(state, change)(label)
            case "undo" | "redo" as step:
                getattr(state, step)()

    def _forget(self) -> None:
        """Take away what was said of an earlier model or config."""
        if not self.state.refused:
            self.status.value = ""

    def look(self, wanted: bool) -> None:
        """Ask the doctor which providers work here, once."""
        if wanted and self.state.doctor is None and self.state.job is None:
            self.bench.look_at_machine()

    def set(self, label: str, row: str, text: str) -> None:
        """Set a value by its words, or by a typed text; without a label, what is the same for all."""
        if not label:
            shared = next(line for line in shared_rows(self.state) if line.key == row)
            shared.changed(self.state, text.strip())
            return
        knob_row = self.row(row)
        self.bench.turn(label, row, lambda config: knob_row.changed(config, text.strip()), text)

    def copy(self, label: str, row: str) -> None:
        """Give a config what A has in a row."""
        knob_row = self.row(row)
        value = knob_row.value(self.state.configs["A"])
        self.bench.turn(label, row, lambda config: knob_row.place.put(config, value))

    def command(self, label: str, name: str) -> None:
        """Replace a whole config; of a preset, say where it usually loses before it runs."""
        state = self.state
        if name == _SAME:
            state.set_config(label, state.configs["A"])
        elif name == _SWAP:
            state.set_configs({**state.configs, "A": state.configs[label], label: state.configs["A"]})
        elif name == _ADD:
            state.duplicate(label)
        else:
            preset = next(preset for preset in PRESETS if preset.name == name)
            state.set_config(label, preset.make(state.model))
            caution = preset.caution(state.model, state.doctor)
            self.status.value = note_html(f"⚠ {caution}" if caution else preset.hint)

    def row(self, key: str) -> SettingRow:
        """Return the row with a key."""
        wanted = next((row for row in (*self.rows(), *self.hits()) if row.key == key), None)
        if wanted is None:
            raise WorkbenchError(
                f"{quoted(key)} is no row of the table now.", "Search for it, and set it again there."
            )
        return wanted

    def rows(self) -> list[SettingRow]:
        """Return the rows that stand in the table, with the details of those that are opened below them."""
        state, rows = self.state, list[SettingRow]()
        for row in standing_rows(state.environments):
            if row.key == "providers":
                row = replace(row, settings={**row.settings, **plugins(state.doctor)})
            rows.append(row)
            if row.more and row.key in self.opened:
                details = detail_rows(row.key, state)
                rows += [replace(detail, inner=True, group=row.group) for detail in details]
        further, shown = option_rows(), {row.key for row in rows}
        return rows + [row for row in further if row.key not in shown and self._is_set(row, state.configs)]

    def hits(self) -> list[SettingRow]:
        """Return the rows that the search found: knobs, then options; without a word all knobs.

        Options with the words in their names stand before the others, what is not available last.
        """
        words = self.view.search.casefold().split()
        rows = [*standing_rows(self.state.environments), *(option_rows() if words else ())]

        def place(row: SettingRow) -> tuple[bool, bool]:
            is_named = all(word in row.label.casefold() for word in words)
            return bool(self._why_not(row)), bool(row.owner) and not is_named

        return sorted((row for row in rows if row.matches(words)), key=place)

    def _why_not(self, row: SettingRow) -> str:
        """Return why what a row sets is not available here; empty if it is."""
        absent = "not in this build of ONNX Runtime" if row.absent else ""
        return do_not_work(self.state.doctor).get(row.owner) or absent

    def refresh(self) -> None:
        """Show the configs as they are now."""
        with self._refreshing:
            state, view = self.state, self.view
            configs, hits = state.configs, self.hits()
            rows = [self._row_json(row, configs) for row in self.rows()
                    if view.drawer or row.key in CHIEF or self._is_set(row, configs)]  # fmt: skip
            if view.drawer:
                shared = {"shared": True, "chips": False}
                rows += [{**self._row_json(row, {"": state}), **shared} for row in shared_rows(state)]
                rows += preview_line(state)
                about = about_providers(state.doctor) if "providers" in self.opened else {}
                rows += [line(f"about/{name}", name, "providers", words, inner=True)
                         for name, words in about.items()]  # fmt: skip
            groups = [*dict.fromkeys(row["group"] for row in rows)]
            view.rows = sorted(rows, key=lambda row: groups.index(row["group"]))
            view.undoes, view.redoes = bool(state.past), bool(state.future)
            view.columns = [self._column(label) for label in configs]
            view.hits = [self._row_json(row, configs) for row in hits[:MOST_HITS]]
            more = f", {len(hits) - MOST_HITS} more: type another word" if len(hits) > MOST_HITS else ""
            view.hit_count = f"{counted(len(hits), 'option')}{more}" if view.search.strip() else ""
            view.found = view.search
            notes = "".join(
                f"<li>{text(note)}</li>" for config in configs.values() for note in config.notes()
            )
            baseline, *others = configs.items()
            lines = "<br>".join(text(baseline[1].diff(other).sentence("A", label)) for label, other in others)
            self.difference.value = f'<div class="wbp-difference" role="status">{lines}</div>' + (
                f'<ul class="wbp-note">{notes}</ul>' if notes else ""
            )

    def _is_set(self, row: SettingRow, configs: Mapping[str, Config]) -> bool:
        refused = {key for _, key in self.state.refused}
        return row.key in refused or not all(map(row.is_default, configs.values()))

    def _column(self, label: str) -> dict[str, Any]:
        return {
            "label": label,
            "name": _NAMES.get(label, label),
            "shown": label == self.state.editing,
            "best": label == best_label(self.state),
            "drops": label != "A" and len(self.state.configs) > 2,
            "duplicates": len(self.state.configs) < len(LABELS),
        }

    def _row_json(self, row: SettingRow, holders: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row as the page draws it, with a cell for each config, or for the state that all share."""
        baseline = next(iter(holders.values()))
        reasons = do_not_work(self.state.doctor) if row.key == "providers" else {}
        return {
            **{name: getattr(row, name) for name in _AS_IN_PAGE},
            "options": [*row.settings],
            "apart": {Provider(name).short_name: why for name, why in reasons.items()},
            "why": self._why_not(row),
            "chips": not entries_have_rows(row, holders),
            "cells": [self._cell(row, label, holder, baseline) for label, holder in holders.items()],
        }

    def _cell(self, row: SettingRow, label: str, holder: Any, baseline: Any) -> dict[str, Any]:
        error, typed = self.state.refused.get((label, row.key), ("", ""))
        words = typed or row.shown(holder)
        return {
            "value": one_line(words, _MOST_LETTERS) if label else words,  # a path for all is edited whole
            "default": row.is_default(holder),
            "differs": row.has(holder) and row.has(baseline) and row.value(holder) != row.value(baseline),
            "error": one_line(str(error)),
            "none": not row.has(holder),
        }


def best_label(state: BenchState) -> str:
    """Return the label of the fastest config of the comparison; empty if that is not settled."""
    verdicts: Iterable[Any] = () if state.result is None else state.result.verdicts
    bounds = {
        verdict.label: verdict.bound for verdict in verdicts if verdict.kind == "faster" and verdict.bound
    }
    return max(bounds, key=bounds.__getitem__, default="")
