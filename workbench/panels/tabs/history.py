"""The history tab: every comparison made here, to filter, to reopen, to list side by side, to delete."""

from __future__ import annotations

from typing import Any

import ipywidgets as W

from workbench.api.comparing import Comparison, history
from workbench.errors import WorkbenchError
from workbench.panels.bench import Bench
from workbench.panels.buttons import Spec, button, buttons_of
from workbench.panels.guard import shown_in
from workbench.panels.markup import note_html
from workbench.panels.table import Table

EMPTY = '<div class="wbp-empty">Nothing yet: comparisons and explanations are kept and listed here.</div>'
COLUMNS = ["id", "created_utc", "kind", "model", "verdict", "ratio", "low", "high", "cpu", "note"]


class HistoryPage:
    """A table of the history, with buttons for its picked rows."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.status, self.list, self.beside = W.HTML(), W.VBox([]), W.VBox([])
        self.table: Table | None = None
        self.to_delete: list[str] = []  # the ids that were picked when Delete was pressed
        specs: tuple[Spec, ...] = (
            ("Open", "Show the picked comparison in the results", self._open),
            ("Use its configs", "Put its configs into A and B", self._use),
            ("Side by side", "The picked comparisons in one table", self._side_by_side),
            ("Delete", "Delete the picked entries for good", self._ask_delete),
        )
        self.buttons = buttons_of(specs, self.status)
        self.sure = button("Yes, delete", "This cannot be undone", self._delete, self.status)
        self.sure.layout.display = "none"
        row = W.HBox([*self.buttons.values(), self.sure])
        row.add_class("wbp-tools")
        self.widget = W.VBox([row, self.status, self.list, self.beside])
        self.widget.add_class("wbp-page")

    def show(self) -> None:
        """Read the history and list it."""
        with shown_in(self.status):
            frame = history().to_frame()
            frame["created_utc"] = [str(when)[:16].replace("T", " ") for when in frame["created_utc"]]
            caption = "Pick one or, with Ctrl, several."
            self.table = Table.of_frame(frame[[name for name in COLUMNS if name in frame]], caption, "id")
            self.list.children = [self.table] if len(frame) else [W.HTML(EMPTY)]

    def hide(self) -> None:
        """Take the tables out of the page."""
        self.list.children = self.beside.children = ()

    def forget(self) -> None:
        """Do nothing: the history is read anew whenever it is shown."""

    @property
    def picked(self) -> list[str]:
        """The picked ids, at least one."""
        ids = list(self.table.picked) if self.table else []
        if not ids:
            raise WorkbenchError(
                "Nothing is picked.", "Click a row of the table, or move to it and press Enter."
            )
        return ids

    def _open(self) -> None:
        opened = comparison_of(self.picked[-1])
        self.bench.show(opened)
        self.status.value = note_html(f"{opened.record.id} is shown in the results.")

    def _use(self) -> None:
        first, second, *_ = comparison_of(self.picked[-1]).runs
        self.bench.state.change(a=first.config, b=second.config)
        self.status.value = note_html("A and B are set.")

    def _side_by_side(self) -> None:
        import pandas as pd

        frames = [self._labelled(identity) for identity in self.picked]
        title = (
            "Measured at different times, so without a verdict: only runs measured in turns can be compared."
        )
        self.beside.children = [Table.of_frame(pd.concat(frames, ignore_index=True), title)]

    def _labelled(self, identity: str) -> Any:
        opened = comparison_of(identity)
        frame = opened.to_frame()
        frame.insert(0, "model", opened.record.model.name)
        frame.insert(0, "id", identity)
        return frame

    def _ask_delete(self) -> None:
        self.to_delete = self.picked
        self.status.value = note_html(f"{len(self.to_delete)} would be deleted for good.")
        self.sure.layout.display = None

    def _delete(self) -> None:
        self.sure.layout.display = "none"
        for identity in self.to_delete:
            history().delete(identity)
        self.show()
        self.status.value = note_html("Deleted.")


def comparison_of(identity: str) -> Comparison:
    """Return a comparison of the history, which keeps other results too."""
    opened = history().open(identity)
    if isinstance(opened, Comparison):
        return opened
    raise WorkbenchError(
        f"{identity} is no comparison but a {type(opened).__name__}.",
        f"Show it in a cell: wb.history().open({identity!r})",
    )
