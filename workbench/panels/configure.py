"""The configure column: which of the two configs is shown, its sections, and what differs."""

from __future__ import annotations

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import Act, buttons_of
from workbench.panels.guard import shown_in
from workbench.panels.markup import text
from workbench.panels.presets import PRESETS
from workbench.panels.sections.advanced import Advanced
from workbench.panels.sections.generic import Memory, Threads
from workbench.panels.sections.graph import Graph
from workbench.panels.sections.inputs import Inputs
from workbench.panels.sections.measuring import Measuring
from workbench.panels.sections.precision import Precision
from workbench.panels.sections.providers import Providers

SECTIONS = (Graph, Providers, Threads, Precision, Memory, Inputs, Advanced, Measuring)
LABELS = (("A baseline", "A"), ("B candidate", "B"))


class Configure:
    """Holds the sections."""

    def __init__(self, bench: Bench) -> None:
        self.state = state = bench.state
        hints = ["Show the config to compare with", "Show the config to try"]
        self.which = W.ToggleButtons(options=LABELS, value=state.editing, tooltips=hints)
        self.which.add_class("wbp-which")
        self.presets = W.Dropdown(
            options=["preset…", *(one.name for one in PRESETS)], tooltip="Begin with a config that is in use"
        )
        self.explained = W.ToggleButton(description="?", tooltip="Explain every knob", value=False)
        self.explained.add_class("wbp-icon")
        self.status = W.HTML()
        acts: tuple[Act, ...] = (
            ("A → B", "Make B the same as A", lambda: state.change(b=state.a)),
            ("B → A", "Make A the same as B", lambda: state.change(a=state.b)),
            ("A ⇄ B", "Swap A and B", lambda: state.change(a=state.b, b=state.a)),
            ("↶ undo", "Undo the last change of a config", state.undo),
            ("↷ redo", "Redo what was undone", state.redo),
        )
        self.acts = buttons_of(acts, self.status)
        begin, moves = W.HBox([self.presets, self.explained]), W.HBox(list(self.acts.values()))
        begin.add_class("wbp-presets")
        moves.add_class("wbp-moves")
        self.sections = [make(bench) for make in SECTIONS]
        self.difference = W.HTML()
        parts = [
            self.which,
            begin,
            moves,
            self.status,
            *(one.widget for one in self.sections),
            self.difference,
        ]
        self.widget = W.VBox(parts)
        self.widget.add_class("wbp-configure")
        self.which.observe(lambda change: setattr(state, "editing", change["new"]), names="value")
        self.presets.observe(lambda change: self._begin(change["new"]), names="value")
        self.explained.observe(lambda change: self._explain(change["new"]), names="value")
        state.observe(self._show, names=["a", "b", "editing", "past", "future"])
        self._show()

    def _begin(self, name: str) -> None:
        """Put a preset in the place of the config that is shown."""
        preset = next((one for one in PRESETS if one.name == name), None)
        if preset is not None:
            with shown_in(self.status):
                self.state.set_config(self.state.editing, preset.make())
            self.presets.index = 0

    def _explain(self, on: bool) -> None:
        (self.widget.add_class if on else self.widget.remove_class)("wbp-show-help")

    def _show(self, _: object = None) -> None:
        state = self.state
        self.which.value = state.editing
        self.acts["↶ undo"].disabled, self.acts["↷ redo"].disabled = not state.past, not state.future
        notes = "".join(f"<li>{text(note)}</li>" for note in state.config(state.editing).notes())
        listed = f'<ul class="wbp-note">{notes}</ul>' if notes else ""
        said = text(state.a.diff(state.b))
        self.difference.value = f'<div class="wbp-difference" role="status">{said}{listed}</div>'
