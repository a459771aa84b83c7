"""`wb.Workbench`: the bench together with its panels, which are made when they are first shown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.apps.panels.bench import Bench
from workbench.core.bundle.display import config_in_words
from workbench.core.html_table import html_table
from workbench.core.installed import need
from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.apps.panels.layout import Layout


class Workbench(Bench):
    """The panels: `wb.Workbench()` as the last line of a cell, with or without a model to begin with.

    >>> import workbench as wb
    >>> bench = wb.Workbench()
    >>> bench.b = wb.Config(level="basic")
    >>> str(bench.a.diff(bench.b))
    "B differs from A in: level (basic instead of ORT's default)"
    """

    def __init__(self, model: Any = None) -> None:
        super().__init__()
        self._requested = model if isinstance(model, str) else None
        if model is not None:
            self.load(model)

    @cached_property
    def panels(self) -> Layout:
        """All panels; `.root` is the widget that shows them."""
        need("ipywidgets")
        from workbench.apps.panels.layout import Layout  # ipywidgets loads slowly; scripts need none

        return Layout(self)

    def __str__(self) -> str:
        model = self.state.model
        name = model.name if model else self._requested or "no model yet"
        return f"The workbench on {one_line(name)}: {self._verdict()}"

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the panels, and a table of what they held for readers without a kernel."""
        bundle = self.panels.root._repr_mimebundle_(**options)
        self.page.remember_cell()
        return {**bundle, "text/plain": str(self), "text/html": self._table()} if bundle else bundle

    def _table(self) -> str:
        model = self.state.model
        rows = [
            ("model", model.describe().headline if model else self._requested),
            *((label, config_in_words(config)) for label, config in self.state.configs.items()),
            ("verdict", self._verdict()),
        ]
        return html_table(("", "when this cell ran"), rows, "The workbench. Run the cell to use its panels")

    def _verdict(self) -> str:
        return str(self.result).splitlines()[0] if self.result else "nothing was compared yet"
