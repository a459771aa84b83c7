"""The field of a grid: up to two axes, each a dimension of the model or a knob, with its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from traitlets import Unicode

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import follow, on_change, own_changes
from workbench.apps.panels.state import BenchState
from workbench.core.config import KNOBS, kinds
from workbench.core.config.fields import BY_FIELD
from workbench.core.form import Field
from workbench.core.models.sizes import is_batch
from workbench.features.grid.axes import KNOB_NAMES, free_names

MOST_AXES = 2
SWEPT = (kinds.Choice, kinds.Flag, kinds.Switch, kinds.Count)  # kinds of knob whose values are short texts
_SIZES = "1, 8, 32"


class AxesField(W.HBox):
    """Two pairs of a name and its values; `value` holds them as `batch=1, 8; threads=1, 2`."""

    value = Unicode("")

    def __init__(self, state: BenchState, field: Field, changed: Callable[[str], None]) -> None:
        self.state, self.changed = state, changed
        self.pairs = [self._pair(field, place) for place in range(MOST_AXES)]
        super().__init__([widget for pair in self.pairs for widget in pair], classes="wbp-tools")
        self.observe(lambda _: self._show(), names="value")
        follow(state, self._offer, "model")

    def _pair(self, field: Field, place: int) -> tuple[W.Combobox, W.TextField]:
        name = W.Combobox(
            description="and" if place else field.label,
            placeholder="" if place else field.example.partition("=")[0],
            tooltip=field.hint,
            continuous_update=False,
        )
        values = W.TextField(placeholder="" if place else _SIZES, tooltip="Values with commas")
        for widget in (name, values):
            on_change(widget, lambda _: self._typed())
        return name, values

    def _offer(self) -> None:
        """Offer the free dimensions of the open model and the knobs."""
        dims = () if self.state.model is None else free_names(self.state.model)
        if self.state.model is not None:  # an example that this model has: its batch, another size, a knob
            first = next(filter(is_batch, dims), next(iter(dims), next(iter(KNOB_NAMES))))
            self.pairs[0][0].placeholder = first
            self.pairs[0][1].placeholder = example_of(first)
        for name, _ in self.pairs:
            name.options = (*dims, *KNOB_NAMES, *(knob.field for knob in KNOBS if type(knob) in SWEPT))

    def _typed(self) -> None:
        """Tell the text of all pairs; a name alone shows which values it takes."""
        for place, (name, values) in enumerate(self.pairs):
            named = name.value.strip()
            values.placeholder = example_of(named) if named or not place else ""
        texts = [f"{name.value.strip()}={values.value.strip()}" for name, values in self.pairs
                 if name.value.strip() or values.value.strip()]  # fmt: skip
        self.changed("; ".join(texts))

    def _show(self) -> None:
        parts = [part for part in self.value.split(";") if part.strip()]
        with own_changes():
            for place, (name, values) in enumerate(self.pairs):
                head, _, tail = (parts[place] if place < len(parts) else "").rpartition("=")
                name.value, values.value = head.strip(), tail.strip()


def example_of(name: str) -> str:
    """Return values that an axis may have."""
    knob: Any = BY_FIELD.get(KNOB_NAMES.get(name, name))
    if knob is None:
        return _SIZES
    if isinstance(knob, kinds.Choice):
        return ", ".join(knob.choices)
    return "1, 2, 4" if isinstance(knob, kinds.Count) else "true, false"
