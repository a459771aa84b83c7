"""`wb.Workbench`: the bench together with its panels, which are made when they are first shown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.panels.bench import Bench
from workbench.records.display import config_in_words, to_table

if TYPE_CHECKING:
    from workbench.panels.layout import Layout


class Workbench(Bench):
    """The panels: `wb.Workbench()` as the last line of a cell, or with a model to begin with.

    >>> import workbench as wb
    >>> bench = wb.Workbench()
    >>> bench.b = wb.Config(level="basic")
    >>> str(bench.a.diff(bench.b))
    "B differs from A in: level (basic instead of ORT's default)"
    """

    def __init__(self, model: Any = None) -> None:
        super().__init__()
        self._asked = model if isinstance(model, str) else None
        if model is not None:
            self.load(model)

    @cached_property
    def panels(self) -> Layout:
        """All panels; `.root` is the widget that shows them."""
        from workbench.panels.layout import Layout  # ipywidgets takes its time, and scripts need none

        return Layout(self)

    def __str__(self) -> str:
        opened = self.state.model
        subject = opened.name if opened else self._asked or "no model yet"
        return f"The workbench on {subject}: {self._verdict()}"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """The panels; and a table of what they held, for where no kernel is."""
        bundle = self.panels.root._repr_mimebundle_(**options)
        self.page.cell.remember()
        told = {**bundle, "text/plain": str(self), "text/html": self._held()}
        return told if bundle else bundle

    def _held(self) -> str:
        opened = self.state.model
        rows = [
            ("model", opened.describe().headline if opened else self._asked),
            ("A baseline", config_in_words(self.a)),
            ("B candidate", config_in_words(self.b)),
            ("verdict", self._verdict()),
        ]
        return to_table(("", "when this cell ran"), rows, "The workbench. Run the cell to use its panels")

    def _verdict(self) -> str:
        return str(self.result).splitlines()[0] if self.result else "nothing was compared yet"
