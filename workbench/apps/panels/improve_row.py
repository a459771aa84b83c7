"""The line of the mode Improve: from A, what may be lost, how long it may take, and the button."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, on_change, own_changes
from workbench.apps.panels.markup import text
from workbench.apps.panels.run_row import STOP
from workbench.core.bundle.display import config_in_words

KIND, IMPROVE = "improvement", "Improve"
_HINT = "Try what the findings propose, one after the other; keep what was measured better; look again"
_LOSSES = {
    "no accuracy": "",
    "0.5 % accuracy": "0.5",
    "1 % accuracy": "1",
    "2 % accuracy": "2",
    "5 % accuracy": "5",
}
_TIMES = {"1 minute": "60", "3 minutes": "", "10 minutes": "600", "30 minutes": "1800"}


class ImproveRow:
    """Sets the form of the kind `improvement` and runs it."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.start = W.HTML(), W.HTML()
        self.press = button(IMPROVE, _HINT, self._pressed, self.status, classes="wbp-compare")
        self.press.button_style = "primary"
        self.fields = {
            "max_accuracy_drop": W.Dropdown(
                options=[*_LOSSES.items()], tooltip="What the accuracy may lose at most"
            ),
            "budget_s": W.Dropdown(options=[*_TIMES.items()], tooltip="How long the trying may take"),
        }
        loss, time = self.fields.values()
        words = [W.HTML("and may lose at most"), loss, W.HTML("in"), time]
        self.widget = W.VBox(
            [W.HBox([self.start, *words, self.press], classes="wbp-improve-row"), self.status],
            classes="wbp-configs",
        )
        for argument, field in self.fields.items():
            on_change(field, partial(self._set, argument))
        follow(self.state, self._show, "job", "forms", "a")

    def _pressed(self) -> None:
        if self.state.job is None:
            self.bench.run(KIND)
        else:
            self.bench.cancel()

    def _set(self, argument: str, value: str) -> None:
        forms = self.state.forms
        self.state.forms = {**forms, KIND: {**forms.get(KIND, {}), argument: value}}

    def _show(self) -> None:
        self.press.description = IMPROVE if self.state.job is None else STOP
        self.start.value = f"Starting from <b data-label=A>A</b> {text(config_in_words(self.state.a), 60)}"
        texts = self.state.forms.get(KIND, {})
        with own_changes():
            for argument, field in self.fields.items():
                value = texts.get(argument, "")
                if value not in [held for _, held in field.options]:
                    field.options = (*field.options, (value, value))
                field.value = value
