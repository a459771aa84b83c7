"""The history tab: every comparison made here, to filter, to open again, to set side by side, to forget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as W

import workbench as wb
from workbench.errors import WorkbenchError
from workbench.panels.bench import Bench
from workbench.panels.guard import shown_in
from workbench.panels.markup import note_html
from workbench.panels.table import Table

COLUMNS = ["id", "created_utc", "kind", "model", "verdict", "ratio", "low", "high", "cpu", "note"]


class HistoryPage:
    """Like a page of the results, with things to do to what is picked."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.status, self.list, self.beside = W.HTML(), W.VBox([]), W.VBox([])
        self.table: Table | None = None
        acts: tuple[tuple[str, str, Callable[[], None]], ...] = (
            ("Open", "Show the picked one in the results", self._open),
            ("Use its configs", "Put its configs into A and B", self._use),
            ("Side by side", "The picked ones in one table", self._side_by_side),
            ("Delete", "Forget the picked ones for good", self._ask_delete),
        )
        self.buttons = {name: self._button(name, hint, act) for name, hint, act in acts}
        self.sure = self._button("Yes, delete", "This cannot be undone", self._delete)
        self.sure.layout.display = "none"
        row = W.HBox([*self.buttons.values(), self.sure])
        row.add_class("wbp-offers")
        self.widget = W.VBox([row, self.status, self.list, self.beside])
        self.widget.add_class("wbp-page")

    def _button(self, name: str, hint: str, act: Callable[[], None]) -> W.Button:
        button = W.Button(description=name, tooltip=hint)
        button.add_class("wbp-small")
        button.on_click(lambda _: self._do(act))
        return button

    def _do(self, act: Callable[[], None]) -> None:
        with shown_in(self.status):
            act()

    def show(self) -> None:
        """Read the history anew."""
        with shown_in(self.status):
            frame = wb.history().to_frame()
            frame["created_utc"] = frame["created_utc"].str.slice(0, 16).str.replace("T", " ")
            caption = "Pick one or, with Ctrl, several."
            self.table = Table.of_frame(frame[[name for name in COLUMNS if name in frame]], caption, "id")
            self.list.children = [self.table]

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
        opened = wb.history().open(self.picked[-1])
        if not isinstance(opened, wb.Comparison):
            raise WorkbenchError(
                f"{opened!r} is no comparison.", f"Show it in a cell: wb.history().open({self.picked[-1]!r})"
            )
        self.bench.show(opened)
        self.status.value = note_html(f"{opened.record.id} is shown in the results.")

    def _use(self) -> None:
        first, second, *_ = wb.history().open(self.picked[-1]).runs
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
        opened = wb.history().open(identity)
        frame = opened.to_frame()
        frame.insert(0, "model", opened.record.model.name)
        frame.insert(0, "id", identity)
        return frame

    def _ask_delete(self) -> None:
        self.status.value = note_html(f"{len(self.picked)} would be forgotten for good.")
        self.sure.layout.display = None

    def _delete(self) -> None:
        self.sure.layout.display = "none"
        for identity in self.picked:
            wb.history().delete(identity)
        self.show()
        self.status.value = note_html("Deleted.")
