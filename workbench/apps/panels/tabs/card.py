"""A card on the screen, with a menu to pin it, to save it, and to copy its code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, link_selection, use_button
from workbench.apps.panels.markup import error_html
from workbench.apps.panels.table import PickedTable, TableWidget, WithDrawer, widget_of
from workbench.core.bundle.display import csv_of
from workbench.drawing.card import Card, PickTable
from workbench.drawing.cell import PLOTLY, as_figure, as_still
from workbench.drawing.lettering import text_width
from workbench.drawing.markup import note_html
from workbench.drawing.page.caption import caption_html
from workbench.drawing.titles import take_title, title_of

_NOTHING = "There is nothing to draw."
LABEL, MOST_BESIDE = 14, 118.0  # pixels of a letter and of the labels beside a figure that fits everywhere


class CardWidget:
    """A card on the screen. Nothing is drawn before `show`."""

    def __init__(self, bench: Bench, card: Card) -> None:
        self.bench, self.card = bench, card
        self.drawn: Any = None
        self.closed = False
        self.as_table = card.draw is None
        self.body, self.status = W.VBox([], classes="wbp-card-body"), W.HTML()
        self.title = W.HTML(caption_html(title_of([card.heading or card.name], "")), classes="wbp-heading")
        self.turn = self._link("Table", "The same in numbers", self._turn)
        self.pin = self._link("Pin", "Keep it below, in a cell that survives sharing", self._pin)
        hint = "Copy the code that gives this"
        self.copy = bench.page.copy_button("Code", hint, self.code, self.status, "wbp-quiet-link")
        self.csv = self._link("CSV", "Save the table as a file", self._download)
        both = card.draw is not None and card.table is not None
        turn, csv = [self.turn] if both else [], [self.csv] if card.table is not None else []
        self.menu = W.HBox([*turn, self.pin, self.copy, *csv], classes="wbp-menu")
        self.head = W.HBox([self.title, self.menu], classes="wbp-card-head")
        self.widget = W.VBox([self.status, self.body], classes="wbp-card")

    def _link(self, label: str, hint: str, act: Callable[[], None]) -> W.Button:
        return button(label, hint, act, self.status, classes="wbp-quiet-link")

    def place_menu(self, *, inside: bool) -> None:
        """Put title and menu into the card, or leave them to the bar of the view."""
        self.widget.children = [*([self.head] if inside else []), self.status, self.body]

    def show(self) -> None:
        """Draw the card in the background and put it in its place."""
        if not self.body.children:
            self.body.children = [W.HTML(note_html("drawing…"))]
        make = self._table if self.as_table else self._figure
        self.bench.in_background(
            lambda: None if self.closed else make(),
            self._place,
            lambda error: self._place(W.HTML(error_html(error))),
        )

    def bundle(self) -> dict[str, Any]:
        """Return what survives in a saved notebook: a picture, a figure, a sentence of numbers."""
        card = self.card
        drawn = None if card.draw is None else (card.draw_alone or self._drawn)()
        if drawn is None:
            assert card.table is not None
            return {"text/plain": f"{card.summary}\n{card.table().to_string(max_rows=60)}"}
        if not isinstance(drawn, W.Widget):
            return as_figure(drawn, card.summary)
        bundle = as_still(drawn)
        if drawn is not self.drawn:
            W.close(drawn)
        return bundle

    def close(self) -> None:
        """Forget what was drawn, when nothing draws or pins it any more."""
        self.closed = True
        self.bench.background.post(self._close)

    def _close(self) -> None:
        drawn, self.drawn = self.drawn, None
        views = [drawn] if isinstance(drawn, W.Widget) else []
        W.close(self.widget, self.head, self.turn, self.csv, *views)

    def _place(self, widget: W.Widget) -> None:
        """Show what was made in place of what is there; a view that was drawn is kept for the next turn."""
        if self.closed:
            W.close(widget)
        else:
            W.replace(self.body, widget, keep=self.drawn)

    def _figure(self) -> W.Widget:
        drawn = self._drawn()
        if drawn is None:  # a result without a figure
            table = self.card.table
            return W.HTML(note_html(_NOTHING)) if table is not None and table().empty else self._table()
        if isinstance(drawn, W.Widget):
            return drawn
        if self.card.picks is not None:
            drawn.update_layout(clickmode="event+select")  # a point that is clicked stands out
        title, figure = titled_figure(drawn, self.card.summary)
        if title and not self.card.heading:
            self.title.value = title
        uses = [use_button(self.bench.state, use, self.status) for use in self.card.uses()]
        further = [W.HBox(uses, classes="wbp-tools")] if uses else []
        if self.card.below is not None:
            further.insert(0, W.HTML(self.card.below()))
        if self.card.picks is not None:
            table = PickedTable(self.card.picks(), self.bench.state)
            self.bench.page.bridge.on["pick"] = table.pick
            further.append(table)
        return W.VBox([figure, *further]) if further else figure

    def _drawn(self) -> Any:
        if self.drawn is not None:
            return self.drawn
        assert self.card.draw is not None
        drawn = self.card.draw()
        if self.closed:
            return drawn
        if isinstance(drawn, PickTable | W.Widget):
            drawn = widget_of(self.bench.state, self.status, drawn)
        self.drawn = drawn
        return drawn

    def _table(self) -> W.Widget:
        assert self.card.table is not None
        table = TableWidget.of_frame(self.card.table(), self.card.name, self.card.key)
        if table.key >= 0:
            link_selection(self.bench.state, table, "chosen")
        details = self.card.details
        return table if details is None else WithDrawer(self.bench.state, table, details)

    def _turn(self) -> None:
        self.as_table = not self.as_table
        self.turn.description = "Figure" if self.as_table else "Table"
        self.turn.tooltip = "The same as a picture" if self.as_table else "The same in numbers"
        self.show()

    def _pin(self) -> None:
        self.bench.page.pin(self.code(), self.bundle, self.status)

    def code(self) -> str:
        return self.bench.card_code(self.card.code, self.card.part)

    def _download(self) -> None:
        assert self.card.table is not None
        name, table = f"{self.card.name.replace(', ', '-').replace(' ', '-')}.csv", self.card.table
        self.bench.page.download_made(
            name, "text/csv", lambda: csv_of(table()).encode("utf-8", "replace"), self.status
        )


def titled_figure(figure: Any, summary: str) -> tuple[str, W.Output]:
    """Return the title of a figure as HTML, which wraps to the width of the panel, and the figure.

    It stands in an Output widget: a FigureWidget would cost 5 MB.
    """
    bundle = as_figure(figure, summary)
    title = caption_html(take_title(bundle[PLOTLY]))
    layout = bundle[PLOTLY]["layout"]
    # `append_display_data` would store nothing of a figure
    output = W.Output(outputs=({"output_type": "display_data", "data": bundle, "metadata": {}},))
    if "height" in layout:
        output.layout.min_height = f"{layout['height']:.0f}px"  # plotly forgets it when the window changes
    output.add_class("wbp-figure")
    labels = map(str, layout.get("yaxis", {}).get("ticktext") or ())
    beside = max((text_width(label, LABEL) for label in labels if "<" not in label), default=0.0)
    several = sum(name.startswith("xaxis") for name in layout) > 1
    if several or beside > MOST_BESIDE:
        output.add_class("wbp-several")  # axes side by side, or beside long labels, need room for titles
    return title, output
