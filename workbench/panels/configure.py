"""The configure column: which config is shown, its sections, and the difference of A and B."""

from __future__ import annotations

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import Spec, buttons_of
from workbench.panels.changes import on_change, own_changes
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
    """Holds the sections, the presets and the buttons that copy and undo configs."""

    def __init__(self, bench: Bench) -> None:
        self.state = state = bench.state
        hints = ["Show the config to compare with", "Show the config to try"]
        self.which = W.ToggleButtons(options=LABELS, value=state.editing, tooltips=hints)
        self.which.add_class("wbp-which")
        names = [preset.name for preset in PRESETS]
        self.presets = W.Dropdown(options=["preset…", *names], tooltip="Begin with a config for a purpose")
        self.help = W.ToggleButton(description="?", tooltip="Explain every knob", value=False)
        self.help.add_class("wbp-icon")
        self.status = W.HTML()
        specs: tuple[Spec, ...] = (
            ("A → B", "Make B the same as A", lambda: state.change(b=state.a)),
            ("B → A", "Make A the same as B", lambda: state.change(a=state.b)),
            ("A ⇄ B", "Swap A and B", lambda: state.change(a=state.b, b=state.a)),
            ("↶ undo", "Undo the last change of a config", state.undo),
            ("↷ redo", "Redo the change that was undone", state.redo),
        )
        self.buttons = buttons_of(specs, self.status)
        begin, moves = W.HBox([self.presets, self.help]), W.HBox(list(self.buttons.values()))
        begin.add_class("wbp-presets")
        moves.add_class("wbp-moves")
        self.sections = [section(bench) for section in SECTIONS]
        self.difference = W.HTML()
        sections = [section.widget for section in self.sections]
        self.widget = W.VBox([self.which, begin, moves, self.status, *sections, self.difference])
        self.widget.add_class("wbp-configure")
        on_change(self.which, lambda label: setattr(state, "editing", label))
        on_change(self.presets, self._begin, status=self.status)
        on_change(self.help, self._explain)
        state.observe(self._show, names=["a", "b", "editing", "past", "future"])
        self._show()

    def _begin(self, name: str) -> None:
        """Replace the config that is shown by a preset."""
        preset = next(preset for preset in PRESETS if preset.name == name)
        with own_changes():
            self.presets.index = 0
        self.state.set_config(self.state.editing, preset.make(self.state.model))

    def _explain(self, on: bool) -> None:
        (self.widget.add_class if on else self.widget.remove_class)("wbp-show-help")

    def _show(self, _: object = None) -> None:
        state = self.state
        with own_changes():
            self.which.value = state.editing
        self.buttons["↶ undo"].disabled = not state.past
        self.buttons["↷ redo"].disabled = not state.future
        notes = "".join(f"<li>{text(note)}</li>" for note in state.config(state.editing).notes())
        listed = f'<ul class="wbp-note">{notes}</ul>' if notes else ""
        difference = text(state.a.diff(state.b))
        self.difference.value = f'<div class="wbp-difference" role="status">{difference}{listed}</div>'
