"""One thing to look at: a figure or a view with its table twin, to pin, to save, to turn into code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import small_button
from workbench.panels.markup import error_html, text
from workbench.panels.table import Table
from workbench.panels.tabs.csv import csv_of
from workbench.panels.tabs.figure import PLOTLY, figure_bundle, output_of

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Piece:
    """What is drawn and listed when it is first looked at; `code` gives it from the comparison `result`."""

    title: str
    code: str
    said: str  # one sentence of numbers
    draw: Callable[[], Any] | None = None  # a plotly figure, or a view
    table: Callable[[], pd.DataFrame] | None = None
    key: str | None = None  # the table's column of node names, for the linked selection
    alone: Callable[[], Any] | None = None  # the figure where no banner stands above it
    of: str = ""  # the part of the result that it shows, such as "levels/B"; empty: the comparison itself


class PieceBox:
    """A piece on the screen. Nothing is drawn before `show`."""

    def __init__(self, bench: Bench, piece: Piece) -> None:
        self.bench, self.piece = bench, piece
        self.drawn: Any = None
        self.as_table = piece.draw is None
        self.body, self.status = W.VBox([]), W.HTML()
        self.twin = small_button("Table", "The same in numbers", self._turn)
        self.pin = small_button(
            "Pin to notebook", "Keep it below, in a cell that survives sharing", self._pin
        )
        self.csv = small_button("CSV", "Save the table as a file", self._download)
        self.copy = small_button("Copy code", "The code that gives this, into the clipboard", self._copy)
        both = piece.draw is not None and piece.table is not None
        head = W.HBox(
            [
                W.HTML(f"<b>{text(piece.title)}</b>"),
                *([self.twin] if both else []),
                self.pin,
                self.copy,
                *([self.csv] if piece.table is not None else []),
            ]
        )
        head.add_class("wbp-piece-head")
        self.widget = W.VBox([head, self.body, self.status])
        self.widget.add_class("wbp-piece")

    def show(self) -> None:
        """Draw it in the drawer's thread and put it in its place."""
        if not self.body.children:
            self.body.children = [W.HTML('<div class="wbp-note">drawing…</div>')]
        make = self._table if self.as_table else self._figure
        self.bench.drawer.post(lambda: self._made(make))

    def _made(self, make: Callable[[], W.Widget]) -> None:
        try:
            widget = make()
        except Exception as error:  # noqa: BLE001 - one picture that fails must not take the others with it
            widget = W.HTML(error_html(error))
        self.bench.painter.post(lambda: setattr(self.body, "children", [widget]))

    def _figure(self) -> W.Widget:
        self.drawn = self.drawn if self.drawn is not None else self._draw()
        if isinstance(self.drawn, W.Widget):
            return self.drawn
        return output_of(figure_bundle(self.drawn, self.piece.said))

    def _draw(self) -> Any:
        assert self.piece.draw is not None
        drawn = self.piece.draw()
        if isinstance(drawn, W.Widget) and drawn.has_trait("selected"):
            self.bench.link_selection(drawn, "selected")
        return drawn

    def _table(self) -> W.Widget:
        assert self.piece.table is not None
        table = Table.of_frame(self.piece.table(), self.piece.title, self.piece.key)
        if table.key >= 0:
            self.bench.link_selection(table, "picked")
        return table

    def _turn(self) -> None:
        self.as_table = not self.as_table
        self.twin.description = "Figure" if self.as_table else "Table"
        self.twin.tooltip = "The same as a picture" if self.as_table else "The same in numbers"
        self.show()

    def _pin(self) -> None:
        self.bench.drawer.post(lambda: self._pinned())

    def _pinned(self) -> None:
        self.bench.page.pin(self._code(), self.bundle(), self.status)

    def _code(self) -> str:
        return self.bench.reopening(self.piece.code, self.piece.of)

    def _copy(self) -> None:
        self.bench.page.copy(self._code(), self.status)

    def bundle(self) -> dict[str, Any]:
        """What survives in a saved notebook: a picture, a figure, a sentence of numbers."""
        if self.piece.draw is None:
            assert self.piece.table is not None
            return {"text/plain": f"{self.piece.said}\n{self.piece.table().to_string(max_rows=60)}"}
        if self.piece.alone is not None:
            return figure_bundle(self.piece.alone(), self.piece.said)
        self.drawn = self.drawn if self.drawn is not None else self._draw()
        if isinstance(self.drawn, W.Widget):
            return still_bundle(self.drawn)
        return figure_bundle(self.drawn, self.piece.said)

    def _download(self) -> None:
        def make() -> None:
            assert self.piece.table is not None
            data = csv_of(self.piece.table()).encode("utf-8", "replace")
            self.bench.page.download(
                f"{self.piece.title.replace(' ', '-')}.csv", "text/csv", data, self.status
            )

        self.bench.drawer.post(make)


def still_bundle(view: Any) -> dict[str, Any]:
    """A view without its life."""
    found = view._repr_mimebundle_()
    bundle = found[0] if isinstance(found, tuple) else found
    return {mime: data for mime, data in bundle.items() if mime in ("text/plain", "image/png", PLOTLY)}
