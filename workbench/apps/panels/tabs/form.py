"""The line of a kind of result: the button that makes it with its time, its fields, and the code."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.handlers import button, follow, own_changes, text_field
from workbench.apps.panels.markup import text
from workbench.apps.panels.tabs.steps import time_words
from workbench.core.feature import Offer
from workbench.core.form import Field
from workbench.features.base.registry import KINDS

if TYPE_CHECKING:
    from workbench.apps.panels.tabs.axes import AxesField

NARROW, WIDE = 5, 15  # characters of an example: up to here a field is short, from here on it takes the rest


class FormLine:
    """What a kind of result is in a sentence, its fields, and the button that makes it.

    A kind is imported for its fields and its code alone: a fresh page shows some that are not made yet.
    """

    def __init__(self, bench: Bench, kind: Offer, sentence: str = "") -> None:
        self.bench, self.state, self.kind = bench, bench.state, kind
        self.status = W.HTML()
        self.words = W.HTML(f'<div class="wbp-say">{text(sentence or f"{kind.hint}.")}</div>')
        self.run = button(kind.button, kind.hint, partial(bench.run, kind.name), self.status)
        self.copy = bench.page.copy_button(
            "Code", "Copy the code that makes this", self._code, self.status, "wbp-quiet-link"
        )
        self.form = KINDS.named(kind.name).form if kind.has_form else ()
        self.fields = {field.argument: self._field(field) for field in self.form}
        row = W.HBox([*self.fields.values(), self.run, self.copy], classes="wbp-tools")
        self.widget = W.VBox([self.words, row, self.status], classes="wbp-forms")
        follow(self.state, self._enable, "job")
        follow(self.state, self.show, "forms", "result", "parts_made", "took_s", "model")

    def show(self) -> None:
        """Show the texts that the state holds."""
        made = self.state.has_part(self.kind.name)
        time = time_words(self.state, self.kind.name)
        self.run.description = f"{self.kind.button}{' again' if made else ''}{time}"
        texts = self.state.forms.get(self.kind.name, {})
        with own_changes():
            for field in self.form:
                self.fields[field.argument].value = texts.get(field.argument, field.text)

    def _enable(self) -> None:
        self.run.disabled = self.state.job is not None

    def _field(self, field: Field) -> W.TextField | AxesField:
        set_text = partial(self.state.set_form, self.kind.name, field.argument)
        if field.has_axes:
            from workbench.apps.panels.tabs.axes import AxesField

            return AxesField(self.state, field, set_text)
        box = text_field(field, set_text, self.status)
        letters = len(field.text or field.example)
        if not NARROW < letters < WIDE:
            box.add_class("wbp-narrow" if letters <= NARROW else "wbp-wide")
        return box

    def _code(self) -> str:
        return kind_code(KINDS.named(self.kind.name), self.bench.request())
