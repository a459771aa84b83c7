"""The history tab: every comparison made here, to filter, to open again, to set side by side, to forget."""

from __future__ import annotations

from typing import Any

import ipywidgets as W

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.panels.bench import Bench
from workbench.panels.buttons import Act, buttons_of, guarded, small_button
from workbench.panels.guard import shown_in
from workbench.panels.markup import note_html
from workbench.panels.table import Table

EMPTY = '<div class="wbp-empty">Nothing yet: what is compared or explained here is kept and listed.</div>'
COLUMNS = ["id", "created_utc", "kind", "model", "verdict", "ratio", "low", "high", "cpu", "note"]


class HistoryPage:
    """Like a page of the results, with things to do to what is picked."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.status, self.list, self.beside = W.HTML(), W.VBox([]), W.VBox([])
        self.table: Table | None = None
        self.doomed: list[str] = []  # picked when "Delete" was pressed: what is picked later stays
        acts: tuple[Act, ...] = (
            ("Open", "Show the picked one in the results", self._open),
            ("Use its configs", "Put its configs into A and B", self._use),
            ("Side by side", "The picked ones in one table", self._side_by_side),
            ("Delete", "Forget the picked ones for good", self._ask_delete),
        )
        self.buttons = buttons_of(acts, self.status)
        self.sure = small_button("Yes, delete", "This cannot be undone", guarded(self._delete, self.status))
        self.sure.layout.display = "none"
        row = W.HBox([*self.buttons.values(), self.sure])
        row.add_class("wbp-offers")
        self.widget = W.VBox([row, self.status, self.list, self.beside])
        self.widget.add_class("wbp-page")

    def show(self) -> None:
        """Read the history anew."""
        with shown_in(self.status):
            frame = wb.history().to_frame()
            frame["created_utc"] = [str(when)[:16].replace("T", " ") for when in frame["created_utc"]]
            caption = "Pick one or, with Ctrl, several."
            self.table = Table.of_frame(frame[[name for name in COLUMNS if name in frame]], caption, "id")
            self.list.children = [self.table] if len(frame) else [W.HTML(EMPTY)]

    def hide(self) -> None:
        """Nothing stays drawn."""
        self.list.children = self.beside.children = ()

    def forget(self) -> None:
        """It is read anew whenever it is shown."""

    @property
    def picked(self) -> list[str]:
        """Ids, at least one."""
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
            "Measured at different times, so no verdict: only what is measured turn by turn can be compared."
        )
        self.beside.children = [Table.of_frame(pd.concat(frames, ignore_index=True), title)]

    def _labelled(self, identity: str) -> Any:
        opened = comparison_of(identity)
        frame = opened.to_frame()
        frame.insert(0, "model", opened.record.model.name)
        frame.insert(0, "id", identity)
        return frame

    def _ask_delete(self) -> None:
        self.doomed = self.picked
        self.status.value = note_html(f"{len(self.doomed)} would be forgotten for good.")
        self.sure.layout.display = None

    def _delete(self) -> None:
        self.sure.layout.display = "none"
        for identity in self.doomed:
            wb.history().delete(identity)
        self.show()
        self.status.value = note_html("Deleted.")


def comparison_of(identity: str) -> wb.Comparison:
    """From the history, which keeps other results too."""
    opened = wb.history().open(identity)
    if isinstance(opened, wb.Comparison):
        return opened
    raise WorkbenchError(
        f"{identity} is no comparison but: {type(opened).__name__}.",
        f"Show it in a cell: wb.history().open({identity!r})",
    )
