"""The line of a kind of result: the button that makes it with its time, its fields, and the code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from traitlets import Unicode

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.handlers import button, follow, on_change, own_changes, text_field
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.next_steps import time_words
from workbench.core.config.fields import SWEPT
from workbench.core.feature import Offer
from workbench.core.form import Field, axis_parts
from workbench.core.models.size_examples import values_to_try
from workbench.core.models.sizes import free_names
from workbench.drawing.markup import text
from workbench.features.base.registry import KINDS

NARROW, WIDE = 5, 15  # characters of an example: up to here a field is short, from here on it takes the rest


class FormLine:
    """What a kind of result is in a sentence, its fields, and the button that makes it.

    A kind is imported for its fields and its code alone: a fresh page shows some that are not made yet.
    """

    def __init__(self, bench: Bench, kind: Offer) -> None:
        self.bench, self.state, self.kind = bench, bench.state, kind
        self.status = W.HTML()
        self.words = W.HTML(f'<div class="wbp-say">{text(f"{kind.hint}.")}</div>')
        run = partial(bench.run, kind.name)
        self.run = button(kind.button, kind.hint, run, self.status, idle=self.state)
        self.copy = bench.page.copy_button(
            "Code", "Copy the code that makes this", self._code, self.status, "wbp-quiet-link"
        )
        self.fields = form_fields(self.state, kind.name, self.status) if kind.has_form else {}
        row = W.HBox([*self.fields.values(), self.run, self.copy], classes="wbp-tools")
        self.widget = W.VBox([self.words, row, self.status], classes="wbp-forms")
        follow(self.state, self._show, "answer", "made", "took_s", "model")

    def _show(self) -> None:
        made = self.state.has_part(self.kind.name)
        time = time_words(self.state, self.kind.name)
        self.run.description = f"{self.kind.button}{' again' if made else ''}{time}"

    def _code(self) -> str:
        return kind_code(KINDS.named(self.kind.name), self.bench.request())


def form_fields(state: BenchState, kind: str, status: W.HTML) -> dict[str, Any]:
    """Return the fields of a kind's form by argument; they show and set the texts that the state holds."""
    form = KINDS.named(kind).form
    fields = {field.argument: field_of(state, kind, field, status) for field in form}

    def show() -> None:
        texts = state.forms.get(kind, {})
        with own_changes():
            for field in form:
                box, first = fields[field.argument], field.text_for(state.model, state.data)
                value = texts.get(field.argument, first)
                if field.choices and value not in dict(box.options).values():
                    box.options = (*field.choices, (value, value))
                box.value = value
                if isinstance(box, W.TextField):
                    box.placeholder = field.example_for(state.model)

    follow(state, show, "forms", "model", "data")
    return fields


def field_of(state: BenchState, kind: str, field: Field, status: W.HTML) -> Any:
    """Return the widget of a field: a list of choices, axes, or a box as wide as its text."""
    set_text = partial(state.set_form, kind, field.argument)
    if field.has_axes:
        return AxesField(state, field, set_text)
    if field.choices:
        choice = W.Dropdown(options=field.choices, tooltip=field.hint)
        on_change(choice, set_text)
        return choice
    box = text_field(field, set_text, status)
    letters = max(len(field.text_for()), len(field.example_for()))
    if not NARROW < letters < WIDE:
        box.add_class("wbp-narrow" if letters <= NARROW else "wbp-wide")
    return box


class AxesField(W.HBox):
    """Two pairs of a name and its values; `value` holds them as `batch=1, 8; threads=1, 2`."""

    value = Unicode("")

    def __init__(self, state: BenchState, field: Field, changed: Callable[[str], None]) -> None:
        self.state, self.field, self.changed = state, field, changed
        self.pairs = [self._pair(label) for label in (field.before or field.label, "and")]
        super().__init__([widget for pair in self.pairs for widget in pair], classes="wbp-tools")
        self.observe(lambda _: self._show(), names="value")
        follow(state, self._offer, "model")

    def _pair(self, label: str) -> tuple[W.Combobox, W.TextField]:
        hint = self.field.hint
        name = W.Combobox(description=label, placeholder="", tooltip=hint, continuous_update=False)
        values = W.TextField(description="at", tooltip="Values with commas")
        for widget in (name, values):
            on_change(widget, lambda _: self._typed())
        return name, values

    def _offer(self) -> None:
        """Offer the free dimensions of the open model and the knobs, one of them as an example."""
        model = self.state.model
        self.pairs[0][0].placeholder = self.field.example_for(model).rpartition("=")[0]
        for name, _ in self.pairs:
            name.options = (*(() if model is None else free_names(model.structure)), *SWEPT)
        self._suggest()

    def _suggest(self) -> None:
        """Show which values the name of each pair takes."""
        for name, values in self.pairs:
            named = name.value.strip() or name.placeholder
            values.placeholder = values_to_try(self.state.model, named) if named else ""

    def _typed(self) -> None:
        """Tell the text of all pairs."""
        self._suggest()
        texts = [f"{name.value.strip()}={values.value.strip()}" for name, values in self.pairs
                 if name.value.strip() or values.value.strip()]  # fmt: skip
        self.changed("; ".join(texts))

    def _show(self) -> None:
        parts = axis_parts(self.value)
        with own_changes():
            for place, (name, values) in enumerate(self.pairs):
                head, _, tail = (parts[place] if place < len(parts) else "").rpartition("=")
                name.value, values.value = head.strip(), tail.strip()
