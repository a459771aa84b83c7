"""The scenarios tab: sweep, load test, decoding, matrix and versions, each with the fields of its form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.handlers import button, follow, on_change, own_changes
from workbench.apps.panels.tabs.tab import Tab
from workbench.core.feature import Feature
from workbench.core.form import Field
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    from workbench.apps.panels.tabs.axes import AxesField

TITLE = "scenarios"
NARROW, WIDE = 5, 15  # characters of an example: up to here a field is short, from here on it takes the rest


class Scenarios:
    """A line for each kind whose form stands in this tab; a menu chooses the one on the screen."""

    def __init__(self, bench: Bench) -> None:
        kinds = [KINDS.named(offer.name) for offer in KINDS.offered(TITLE) if offer.has_form]
        self.lines = {kind.name: FormLine(bench, kind) for kind in kinds}
        options = [(kind.button, kind.name) for kind in kinds]
        self.menu = W.Dropdown(options=options, tooltip="Which scenario to measure", classes="wbp-scenario")
        self.place = W.VBox([])
        self.widget = W.HBox([self.menu, self.place], classes="wbp-forms")
        self.state = bench.state
        on_change(self.menu, partial(setattr, self.state, "scenario"))
        follow(self.state, self.refresh, "scenario")

    def refresh(self) -> None:
        """Show the line of the chosen kind, with its button named by what there is."""
        with own_changes():
            self.menu.value = self.state.scenario
        line = self.lines[self.state.scenario]
        line.show()
        self.place.children = [line.widget]


class FormLine:
    """The button that makes a kind of result, its fields, and the code that does the same."""

    def __init__(self, bench: Bench, kind: Feature) -> None:
        self.bench, self.state, self.kind = bench, bench.state, kind
        self.status = W.HTML()
        self.run = button(kind.button, kind.hint, partial(bench.run, kind.name), self.status)
        self.copy = button(
            "Code", "Copy the code that makes this", self._copy, self.status, classes="wbp-quiet-link"
        )
        self.fields = {field.argument: self._field(field) for field in kind.form}
        row = W.HBox([self.run, *self.fields.values(), self.copy], classes="wbp-tools")
        self.widget = W.VBox([row, self.status])
        follow(self.state, self.show, "forms", "job", "result", "parts_made")

    def show(self) -> None:
        """Show the texts that the state holds."""
        again = " again" if self.state.has_part(self.kind.name) else ""
        self.run.description = f"{self.kind.button}{again}"
        self.run.disabled = self.state.job is not None
        texts = self.state.forms.get(self.kind.name, {})
        with own_changes():
            for field in self.kind.form:
                self.fields[field.argument].value = texts.get(field.argument, field.text)

    def _field(self, field: Field) -> W.TextField | AxesField:
        set_text = partial(self._set, field.argument)
        if field.has_axes:
            from workbench.apps.panels.tabs.axes import AxesField

            return AxesField(self.state, field, set_text)
        box = W.TextField(description=field.label, placeholder=field.example, tooltip=field.hint)
        letters = len(field.text or field.example)
        if not NARROW < letters < WIDE:
            box.add_class("wbp-narrow" if letters <= NARROW else "wbp-wide")
        on_change(box, set_text, status=self.status)
        return box

    def _set(self, argument: str, text: str) -> None:
        """Keep what was typed; it is read when the result is made."""
        forms = self.state.forms
        self.state.forms = {**forms, self.kind.name: {**forms.get(self.kind.name, {}), argument: text}}

    def _copy(self) -> None:
        self.bench.page.copy(kind_code(self.kind, self.bench.request()), self.status)


SCENARIOS = Tab(
    TITLE,
    "Choose a scenario above. Sweep measures all configs at several sizes, or at several values of a knob. "
    "Matrix adds further models, and Versions other versions of ONNX Runtime. Load test lets several callers "
    "run the configs at once. Decode runs a language model token by token.",
    tools=Scenarios,
    has_limits=True,
)
