"""A tab: its cards in one bar of switches and buttons, or what to press to get them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, on_change, own_changes
from workbench.apps.panels.markup import text
from workbench.apps.panels.shared_modules import import_shared
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, CardWidget, joined_cards, part_card
from workbench.apps.panels.tabs.limits import LimitsLine
from workbench.core.feature import Offer
from workbench.features.base.registry import KINDS


class Tools(Protocol):
    """Widgets above the cards of a tab; they follow the state when the tab is filled anew."""

    widget: W.Widget

    def refresh(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab, whose buttons and plain cards come from the registry of result kinds.

    `cards` reads the state, returns at once, and covers the kinds in `own`.
    """

    title: str
    empty: str  # what to press to see something here
    cards: Callable[[BenchState], Sequence[Card]] | None = None
    own: tuple[str, ...] = ()
    tools: Callable[[Bench], Tools] | None = None
    has_limits: bool = False  # below the cards, of the part of the result that they show

    def all_cards(self, state: BenchState) -> list[Card]:
        """Return the cards of the tab itself, then those of the other kinds whose first tab it is."""
        offers = [offer for offer in KINDS.offered(self.title) if offer.tabs[0] == self.title]
        plain = [card for offer in offers if offer.name not in self.own for card in part_cards(state, offer)]
        return [*(self.cards(state) if self.cards is not None else ()), *plain]


def part_cards(state: BenchState, kind: Offer) -> list[Card]:
    """Return a card with the figure and the table of each result of a kind."""
    if kind.side_by_side:
        return joined_cards(state, kind)
    if kind.per == "runs":
        whole = state.whole_part(kind.name)
        return [] if whole is None else [part_card(kind.name, "", whole)]
    return [
        part_card(kind.name, label, part, key=kind.key) for label, part in state.held_parts(kind.name).items()
    ]


BOTH = "both"
_BEST = ("sweep", "matrix")  # further results that know their best config within limits


class TabPage:
    """A tab on the screen: filled when it is shown, so that figures are drawn at the size they have."""

    def __init__(self, bench: Bench, tab: Tab) -> None:
        self.bench, self.state, self.tab = bench, bench.state, tab
        self.status, self.content = W.HTML(), W.VBox([], classes="wbp-cards")
        self.offers = {
            offer.name: offer
            for offer in KINDS.offered(tab.title)
            if not (offer.has_form and offer.tabs[0] == tab.title)  # the button of a form stands in its line
        }
        self.buttons = {
            name: button(offer.button, offer.hint, partial(bench.run, name), self.status)
            for name, offer in self.offers.items()
        }
        self.which = W.ToggleButtons(options=[], classes="wbp-pills")  # titles of the cards
        self.side = W.ToggleButtons(options=[], classes="wbp-pills")  # labels of the chosen title, and both
        for switch in (self.which, self.side):
            on_change(switch, lambda _: self._turn())
        self.bar = W.HBox([], classes="wbp-bar")
        self.tools = tab.tools(bench) if tab.tools is not None else None
        tools = [self.tools.widget] if self.tools else []
        self.below = W.VBox([])  # the limits, while there is a result to ask
        below = [self.below] if tab.has_limits else []
        self.widget = W.VBox([self.bar, self.status, *tools, self.content, *below], classes="wbp-page")
        self.cards: dict[str, CardWidget] = {}
        self.fresh = False  # the cards show the state as it is
        self.is_shown = False
        follow(self.state, self._enable, "job", "model", "result")
        self._fill_bar(())

    def _enable(self) -> None:
        for kind, pressed in self.buttons.items():
            pressed.disabled = self.state.job is not None
            label = self.offers[kind].button
            made = self.state.has_part(kind)
            pressed.description = f"{label.removesuffix(' A and B')} again" if made else label

    def show(self) -> None:
        """Fill the tab, with the cards that were shown last if there still are any of their title."""
        self.is_shown = True
        stale = not self.fresh
        if stale:
            self.fresh = True
            if self.state.result is not None or self.state.parts:
                import_shared()
            cards = self.tab.all_cards(self.state)
            self.cards = {card.name: CardWidget(self.bench, card) for card in cards}
            _offer(self.which, list(dict.fromkeys(card.title for card in cards)))
            self._enable()
        self._turn()
        if stale and self.tools is not None:
            self.tools.refresh()

    def _turn(self) -> None:
        """Show the cards of the chosen title and side.

        A page may tell of a switch after it tells that the tab was left: what is drawn then has no size.
        """
        if not self.is_shown:
            return
        of_title = [card for card in self.cards.values() if card.card.title == self.which.value]
        labels = [card.card.label for card in of_title]
        _offer(self.side, [*labels, BOTH] if len(labels) > 1 else [])
        chosen = [card for card in of_title if self.side.value in (card.card.label, BOTH, None)]
        self._fill_bar(chosen)
        if not chosen:
            self.content.children = [W.HTML(f'<div class="wbp-empty">{text(self.tab.empty)}</div>')]
        elif list(self.content.children) != [card.widget for card in chosen]:
            self.content.children = [card.widget for card in chosen]
            for card in chosen:
                card.show()
        part = chosen[0].card.part if chosen else None
        asks = part in _BEST or (part == "" and self.state.result is not None)
        if self.tab.has_limits:
            self.below.children = (self.limits.widget,) if asks else ()
            if asks and part is not None:
                self.limits.show(part)

    @cached_property
    def limits(self) -> LimitsLine:
        """The fields of limits and the answer, made when there is the first result to ask."""
        return LimitsLine(self.bench)

    def _fill_bar(self, chosen: Sequence[CardWidget]) -> None:
        """Put the switches, the buttons and the menu of a single card into one row."""
        for card in chosen:
            card.place_menu(inside=len(chosen) > 1)
        switches = [switch for switch in (self.which, self.side) if len(switch.options) > 1]
        menu = [chosen[0].menu] if len(chosen) == 1 else []
        self.bar.children = [*switches, *self.buttons.values(), *menu]

    def turn_to(self, kind: str) -> None:
        """Show the first card of a kind of result, if there is one."""
        titles = [card.card.title for card in self.cards.values() if card.card.part.partition("/")[0] == kind]
        if titles and self.which.value not in titles:
            self.which.value = titles[0]

    def hide(self) -> None:
        """Take everything out of the page; drawn cards are kept here."""
        self.is_shown = False
        self.content.children = ()

    def forget(self) -> None:
        """Make the cards anew when they are shown next: the state has changed."""
        self.fresh = False


def _offer(switch: W.ToggleButtons, options: list[str]) -> None:
    """Give a switch its options; what was chosen stays chosen if it is still there."""
    if list(switch.options) == options:
        return
    last = switch.value
    with own_changes():
        switch.options = options
        switch.value = last if last in options else (options[0] if options else None)
