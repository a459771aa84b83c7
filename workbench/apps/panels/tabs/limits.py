"""The line of limits below a comparison or a grid: which config keeps them."""

from __future__ import annotations

from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import shown_in, text_field
from workbench.core.form import call_source, values_of
from workbench.core.goal_fields import GOAL_FIELDS
from workbench.drawing.markup import note_html

ACCURACY = "max_accuracy_drop"
_NAMES = ("max_p99_s", ACCURACY, "max_memory_bytes", "max_file_bytes")
ASKED = tuple(field for name in _NAMES for field in GOAL_FIELDS if field.argument == name)


class LimitsLine:
    """Fields of limits; the answer and its line of Python stand below them while there is a limit."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.part = ""  # what the limits are for; empty: the comparison itself
        self.status, self.answer = W.HTML(), W.HTML()
        self.fields = {
            field.argument: text_field(field, lambda _: self._ask(), self.status) for field in ASKED
        }
        self.copy = bench.page.copy_button(
            "Code", "Copy the code that asks this", lambda: bench.card_code(self.code, self.part),
            self.status, "wbp-quiet-link",
        )  # fmt: skip
        question = W.HTML("Within limits?", classes="wbp-words")
        row = W.HBox([question, *self.fields.values(), self.copy], classes="wbp-limit-fields wbp-tools")
        self.widget = W.VBox([row, self.status, self.answer])

    def show(self, part: str) -> None:
        """Ask the result that is on the screen now."""
        self.part = part
        W.set_shown(self.fields[ACCURACY], part == "")  # accuracy is measured of a comparison
        with shown_in(self.status):
            self._ask()

    @property
    def limits(self) -> dict[str, Any]:
        """The limits in the fields, as arguments of `best`."""
        asked = tuple(field for field in ASKED if not (self.part and field.argument == ACCURACY))
        return values_of(asked, {name: field.value for name, field in self.fields.items()})

    @property
    def code(self) -> str:
        """The expression that asks."""
        asked = f'result.made("{self.part}")' if self.part else "result"
        return call_source(f"{asked}.best", (), self.limits)

    def _ask(self) -> None:
        self.answer.value = ""
        limits = self.limits
        W.set_shown(self.copy, bool(limits))
        if limits:
            result: Any = self.state.whole_part(self.part)
            self.answer.value = result.best(**limits).html + note_html(self.code)
