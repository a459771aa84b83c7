"""The form of the mode Improve: from A, within which limits, how long it may take, and the one button."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, on_change, own_changes
from workbench.apps.panels.markup import text
from workbench.apps.panels.may_vary import KIND, MayVary
from workbench.apps.panels.run_row import STOP
from workbench.core.bundle.display import config_in_words
from workbench.features.base.registry import KINDS

IMPROVE = "Improve"
MORE_LIMITS = "+ limit: memory, p99, file…"
_HINT = "Try what the findings propose, search around what was better, and prove the answer within the limits"
_LOSSES = {
    "no accuracy": "",
    "0.5 % accuracy": "0.5",
    "1 % accuracy": "1",
    "2 % accuracy": "2",
    "5 % accuracy": "5",
}
_TIMES = {"3 minutes": "", "1 minute": "60", "10 minutes": "600", "30 minutes": "1800"}


class ImproveRow:
    """Sets the form of the kind `improvement` and runs it."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.start = W.HTML(), W.HTML()
        self.press = button(IMPROVE, _HINT, self._pressed, self.status, classes="wbp-compare")
        self.press.button_style = "primary"
        self.fields = {
            "max_accuracy_drop": W.Dropdown(
                options=[*_LOSSES.items()], tooltip="How much accuracy the answer may cost"
            ),
            "budget_s": W.Dropdown(options=[*_TIMES.items()], tooltip="How long all of it may take"),
        }
        loss, time = self.fields.values()
        hint = "Limits of time, memory and size, and what may vary"
        self.more = button(MORE_LIMITS, hint, self._unfold, self.status, classes="wbp-quiet-link")
        self.may_vary = MayVary(bench, self.status)
        self.further = W.VBox([])
        words = [W.HTML("giving up"), loss, W.HTML("within"), time, self.more]
        self.widget = W.VBox(
            [W.HBox([self.start, *words, self.press], classes="wbp-improve-row"), self.further, self.status],
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

    def _unfold(self) -> None:
        """Show the further limits, made when they are first asked for, or fold them again."""
        if not self.further.children:
            self._make_further()
        else:
            W.set_shown(self.further, self.further.layout.display == "none")

    def _make_further(self) -> None:
        fields = {
            field.argument: W.TextField(
                description=field.label, placeholder=field.example, tooltip=field.hint
            )
            for field in KINDS.named(KIND).form
            if field.argument not in {*self.fields, "without"}
        }
        self.fields |= fields
        for argument, field in fields.items():
            on_change(field, partial(self._set, argument), status=self.status)
        limits = W.HBox([*fields.values()], classes="wbp-tools")
        self.further.children = (limits, self.may_vary.widget)
        self._show()

    def _show(self) -> None:
        self.press.description = IMPROVE if self.state.job is None else STOP
        self.start.value = f"Starting from <b data-label=A>A</b> {text(config_in_words(self.state.a), 60)}"
        texts = self.state.forms.get(KIND, {})
        if not self.further.children and any(
            value for name, value in texts.items() if name not in self.fields
        ):
            self._make_further()  # a limit that is set is in view
            return
        with own_changes():
            for argument, field in self.fields.items():
                value = texts.get(argument, "")
                if isinstance(field, W.Dropdown) and value not in [held for _, held in field.options]:
                    field.options = (*field.options, (value, value))
                field.value = value
