"""The drawer at the side of a table: the details of what was picked in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import on_change
from workbench.apps.panels.table import TableWidget


class WithDrawer(W.HBox):
    """A table, and beside it the details of the row that was picked last."""

    def __init__(self, table: TableWidget, details: Callable[[str], Sequence[W.Widget]]) -> None:
        """`details` makes what the drawer shows from the key of a row."""
        self.table, self.details = table, details
        self.status, self.drawer = W.HTML(), W.VBox([], classes="wbp-drawer")
        super().__init__([table], classes="wbp-beside")
        on_change(table, lambda _: self.show_picked(), "picked", status=self.status)

    def show_picked(self) -> None:
        """Show the details of what is picked; nothing picked closes the drawer."""
        picked = self.table.picked[-1:]
        self.children = [self.table, self.drawer] if picked else [self.table]
        self.drawer.children = [self.status]
        self.drawer.children = [*(widget for key in picked for widget in self.details(key)), self.status]
