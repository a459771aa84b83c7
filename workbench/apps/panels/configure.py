"""The configure column: presets, the knob table, and sections with the details of one config."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import buttons_of, follow, on_change, own_changes
from workbench.apps.panels.knobs.table import KnobTable
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.presets import PRESETS
from workbench.apps.panels.sections.advanced import AdvancedSection
from workbench.apps.panels.sections.inputs import InputsSection
from workbench.apps.panels.sections.measuring import MeasuringSection
from workbench.apps.panels.sections.passes import PassesSection
from workbench.apps.panels.sections.precision import PrecisionSection
from workbench.apps.panels.sections.providers import ProvidersSection
from workbench.apps.panels.sections.section import Section
from workbench.apps.panels.state import BenchState
from workbench.core.text import one_line

_SECTIONS = {  # group of knobs: tooltip
    "graph": "How far the graph is rewritten, before and while ORT loads it",
    "passes": "Each graph pass by its name: what it does, how often it fired, and a check to disable it",
    "providers": "Execution providers: where nodes may run, in which order, and with which options",
    "threads": "How many threads ORT uses, where they run and how they wait",
    "precision": "Quantization and 16-bit floats, made before ORT loads the model, and kept in a cache",
    "memory": "How ORT plans and keeps memory",
    "inputs": "Sizes of the free dimensions, the data, and how they reach ORT",
    "advanced": "Any other entry that a session or a run of ORT takes",
    "measuring": "How long, how exactly, at which pace and by which clock A and B are measured",
}
_KINDS = {  # of sections with more than the controls of their group
    "passes": PassesSection, "providers": ProvidersSection, "precision": PrecisionSection,
    "inputs": InputsSection, "advanced": AdvancedSection, "measuring": MeasuringSection,
}  # fmt: skip
_COPIES = {"make B the same as A": "AA", "make A the same as B": "BB", "swap A and B": "BA"}  # new A, new B


class Configure:
    """Holds the knob table, the presets, the buttons that undo, and the sections."""

    def __init__(self, bench: Bench, run: W.Widget | None = None) -> None:
        """`run` holds the buttons that stand below the knob table."""
        self.state = state = bench.state
        self.unfolded = False  # in a narrow window
        self.presets = W.Dropdown(tooltip="Begin with a config for a purpose")
        self.copies = W.Dropdown(
            options=["A ⇄ B", *_COPIES], tooltip="Copy or swap configs", classes="wbp-copies"
        )
        self.help = W.ToggleButton(
            description="?", tooltip="Explain every knob", value=False, classes="wbp-icon"
        )
        self.status = W.HTML()
        self.buttons = buttons_of(
            self.status,
            ("↶", "Undo the last change of a config", state.undo),
            ("↷", "Redo the change that was undone", state.redo),
        )
        for button in self.buttons.values():
            button.add_class("wbp-icon")
        begin = W.HBox([self.presets, self.copies, *self.buttons.values(), self.help], classes="wbp-presets")
        self.table = KnobTable(bench, self.open)
        self.details = W.HTML()
        self.sections: list[Section] = [
            _KINDS.get(group, Section)(bench, group, hint) for group, hint in _SECTIONS.items()
        ]
        chips = W.Box([self.details, *(section.widget for section in self.sections)], classes="wbp-sections")
        self.difference = W.HTML()
        self.fold = W.Button(tooltip="Show or hide the knobs", classes="wbp-fold")
        self.fold.on_click(lambda _: self._unfold())
        middle = [run] if run is not None else []
        knobs = [begin, self.status, self.table.widget]
        self.widget = W.VBox([self.fold, *knobs, *middle, self.difference, chips], classes="wbp-configure")
        for folded in (*knobs, self.difference, chips):
            folded.add_class("wbp-folds")
        on_change(self.presets, self._begin, status=self.status)
        on_change(self.copies, self._copy, status=self.status)
        on_change(self.help, self._explain)
        follow(state, self._show, "a", "b", "more", "editing", "past", "future")

    def open(self, group: str, label: str) -> None:
        """Show the details of a config in the section of this group."""
        self.state.editing = label
        section = next(section for section in self.sections if section.group == group)
        if not section.open:
            section.toggle()

    def _begin(self, name: str) -> None:
        """Replace the config that is shown by a preset; say where it usually loses before it runs."""
        preset = next(preset for preset in PRESETS if preset.name == name)
        with own_changes():
            self.presets.index = 0
        state = self.state
        state.set_config(state.editing, preset.make(state.model))
        caution = preset.caution(state.model, state.doctor)
        self.status.value = note_html(f"⚠ {caution}" if caution else preset.hint)

    def _copy(self, name: str) -> None:
        """Make two configs equal, or swap them."""
        with own_changes():
            self.copies.index = 0
        first, second = (self.state.config(label) for label in _COPIES[name])
        self.state.change(a=first, b=second)

    def _unfold(self) -> None:
        """Show the knobs in a narrow window, or hide them again; a wide one shows them always."""
        self.unfolded = not self.unfolded
        (self.widget.add_class if self.unfolded else self.widget.remove_class)("wbp-unfolded")
        self._show()

    def _explain(self, on: bool) -> None:
        (self.widget.add_class if on else self.widget.remove_class)("wbp-show-help")

    def _show(self) -> None:
        state = self.state
        first = f"preset for {state.editing}…"
        if not self.presets.options or self.presets.options[0] != first:
            with own_changes():
                self.presets.options = [first, *(preset.name for preset in PRESETS)]
                self.presets.index = 0
        self.buttons["↶"].disabled = not state.past
        self.buttons["↷"].disabled = not state.future
        self.details.value = f'<span class="wbp-note">details of {text(state.editing)}</span>'
        notes = "".join(f"<li>{text(note)}</li>" for note in state.config(state.editing).notes())
        listed = f'<ul class="wbp-note">{notes}</ul>' if notes else ""
        lines = difference_lines(state)
        self.fold.description = f"{'▾' if self.unfolded else '▸'} knobs: {one_line(lines[0], 80)}"
        differences = "<br>".join(text(line) for line in lines)
        self.difference.value = f'<div class="wbp-difference" role="status">{differences}{listed}</div>'


def difference_lines(state: BenchState) -> list[str]:
    """Return a sentence for each candidate that says what differs from A."""
    baseline, *others = state.configs.items()
    return [baseline[1].diff(config).sentence("A", label) for label, config in others]
