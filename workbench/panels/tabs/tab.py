"""A tab: its pieces, or what to do to get them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.guard import shown_in
from workbench.panels.markup import text
from workbench.panels.tabs.card import Piece, PieceBox


@dataclass(frozen=True, slots=True)
class Offer:
    """Something more that can be run for a tab."""

    name: str
    hint: str
    run: Callable[[Bench], None]
    ready: Callable[[Bench], bool]  # its result is there


class Tools(Protocol):
    """More that a tab holds above its pieces; follows the state when the tab is filled anew."""

    widget: W.Widget

    def refresh(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Tab:
    """What a tab is made of. `pieces` reads the state and returns at once."""

    title: str
    empty: str  # what to do to see something here
    pieces: Callable[[Bench], Sequence[Piece]]
    offers: tuple[Offer, ...] = ()
    tools: Callable[[Bench], Tools] | None = None


APART = (
    '<div class="wbp-note" role="status">⚠ This is about A and B as they were in the panels when it '
    "was made, not about those of the verdict above.</div>"
)


class Page:
    """A tab on the screen: filled when it is looked at, so that figures are drawn at the size they have."""

    def __init__(self, bench: Bench, tab: Tab) -> None:
        self.bench, self.tab = bench, tab
        self.status, self.apart, self.content = W.HTML(), W.HTML(), W.VBox([])
        self.offers = [(offer, self._offer(offer)) for offer in tab.offers]
        row = W.HBox([button for _, button in self.offers])
        row.add_class("wbp-offers")
        self.which = W.ToggleButtons(options=[])
        self.which.add_class("wbp-pieces")
        self.tools = tab.tools(bench) if tab.tools is not None else None
        above = [*([row] if self.offers else []), *([self.tools.widget] if self.tools else [])]
        self.widget = W.VBox([*above, self.status, self.apart, self.which, self.content])
        self.widget.add_class("wbp-page")
        self.boxes: dict[str, PieceBox] = {}
        self.fresh = False  # the boxes show the state as it is
        self.which.observe(lambda _: self._turn(), names="value")
        bench.state.observe(lambda _: self._enable(), names=["job", "model", "result"])
        self._enable()

    def _offer(self, offer: Offer) -> W.Button:
        button = W.Button(description=offer.name, tooltip=offer.hint)
        button.add_class("wbp-small")
        button.on_click(lambda _: self._run(offer))
        return button

    def _run(self, offer: Offer) -> None:
        with shown_in(self.status):
            offer.run(self.bench)

    def _enable(self) -> None:
        for offer, button in self.offers:
            button.disabled = self.bench.state.job is not None
            button.description = f"{offer.name} again" if offer.ready(self.bench) else offer.name

    def show(self) -> None:
        """Fill it, with what was looked at last where that is still there."""
        stale = not self.fresh
        if stale:
            self.fresh, last = True, self.which.value
            self.boxes = {piece.title: PieceBox(self.bench, piece) for piece in self.tab.pieces(self.bench)}
            titles = list(self.boxes)
            self.which.options = titles
            self.which.value = last if last in self.boxes else (titles[0] if titles else None)
            self.which.layout.display = None if len(titles) > 1 else "none"
            self._enable()
        apart = self.bench.state.parts_apart and bool(self.boxes)
        self.apart.value = APART if apart else ""
        self._turn()
        if stale and self.tools is not None:
            self.tools.refresh()

    def _turn(self) -> None:
        box = self.boxes.get(self.which.value)
        if box is None:
            self.content.children = [W.HTML(f'<div class="wbp-empty">{text(self.tab.empty)}</div>')]
        elif list(self.content.children) != [box.widget]:
            self.content.children = [box.widget]
            box.show()

    def hide(self) -> None:
        """Take everything out of the page; what was drawn is kept here."""
        self.content.children = ()

    def forget(self) -> None:
        """The state changed: what is shown next is made anew."""
        self.fresh = False
