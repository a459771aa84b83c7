"""A view: one figure with a sentence as its title, a switch to the others, or what to press to get one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, on_change, own_changes
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import CardWidget
from workbench.apps.panels.tabs.form import FormLine
from workbench.apps.panels.tabs.limits import LimitsLine
from workbench.apps.panels.task_thread import import_shared
from workbench.core.feature import Offer, Role, function_at
from workbench.drawing.card import Card, part_card
from workbench.drawing.markup import text
from workbench.features.base.registry import KINDS


@dataclass(frozen=True, slots=True)
class Tab:
    """A view, whose figures come from the features that name it."""

    title: str
    empty: str = ""  # what stands here before anything was made, besides what its kinds of results say
    tools: Callable[[Bench, W.HTML], Sequence[W.Widget]] | None = None  # below the cards, made anew with them
    has_limits: bool = False  # below the cards, of the part of the result that they show
    needs_room: bool = False  # the answer folds to one line above it
    pills: int = 3  # titles that stand beside each other; the others are in a list
    first: Callable[[BenchState], Role] | None = None  # what to begin with; else with the first figure
    opens_with: Role = ""  # what is made when a person turns to the view, where that takes seconds

    def all_cards(self, state: BenchState) -> list[Card]:
        """Return the cards that features make, those of the comparison, then one of each other result."""
        own, plain = list[Card](), list[Card]()
        for offer in self.offers:
            parts = state.held_parts(offer.name)
            if not parts or ("" in parts) != (offer.per == "runs"):  # a stranger's may be about other runs
                continue
            if offer.has_cards:
                own += function_at(KINDS.named(offer.name).cards)(state)
            else:
                plain += plain_cards(offer, parts)
        compared = () if state.result is None else function_at(state.result.feature.cards)(state)
        return [*own, *(card for card in compared if card.view == self.title), *plain]

    @property
    def offers(self) -> list[Offer]:
        """What is made in this view."""
        return [offer for offer in KINDS.offered(self.title) if offer.tabs[0] == self.title]


def plain_cards(kind: Offer, parts: dict[str, Any]) -> list[Card]:
    """Return a card with the figure and the table of each result of a kind, or of all on one axis."""
    if not kind.side_by_side:
        return [part_card(kind.name, label, part, key=kind.key) for label, part in parts.items()]
    joined: Any = KINDS.named(kind.name).result
    both = joined.of({label: part.record for label, part in parts.items()})
    code, part = f"result.{kind.method}()", f"{kind.name}/{max(parts)}"
    return [Card(kind.name, code, str(both), both.figure, both.to_frame, "node", part=part)]


BOTH = "both"
MORE = "more…"  # the first entry of the list of titles


class TabPage:
    """A view on the screen: filled when it is shown, so that figures are drawn at the size they have."""

    def __init__(self, bench: Bench, tab: Tab) -> None:
        self.bench, self.state, self.tab = bench, bench.state, tab
        self.status, self.untitled = W.HTML(), W.HTML()
        self.hint = W.HTML(f'<div class="wbp-empty">{text(tab.empty)}</div>')
        self.content = W.VBox([], classes="wbp-cards")
        self.offers = {offer.title: offer for offer in tab.offers}
        self.kinds = [offer.name for offer in tab.offers]
        self.line = cache(partial(FormLine, bench))  # of an offer; made when it is first shown
        self.title = ""  # of the figure that is shown
        self.which = W.ToggleButtons(options=[], classes="wbp-pills")  # the first titles
        self.more = W.Dropdown(options=[MORE], classes="wbp-more", tooltip="Further figures")  # the others
        self.side = W.ToggleButtons(options=[], classes="wbp-pills")  # labels of the chosen title, and both
        self.is_chosen = False  # a person chose a title, and it stays
        on_change(self.which, self.choose)
        on_change(self.more, self.choose)
        on_change(self.side, lambda _: self._turn())
        hint = "Make this once more"
        self.again = button(
            "Again", hint, self._again, self.status, classes="wbp-quiet-link", idle=self.state
        )
        self.bar = W.HBox([], classes="wbp-bar")
        self.tools, self.tools_status = W.HBox([], classes="wbp-tools"), W.HTML()
        self.below = W.VBox([])  # the limits, while there is a result to ask
        tools = [self.tools, self.tools_status] if tab.tools else []
        self.widget = W.VBox([self.bar, self.status, self.content, *tools, self.below], classes="wbp-page")
        self.cards: dict[str, CardWidget] = {}
        self.fresh = False  # whether the cards show the state as it is
        self.is_shown = False
        self._fill_bar(())

    @cached_property
    def limits(self) -> LimitsLine:
        """The fields of limits and the answer, made when there is the first result to ask."""
        return LimitsLine(self.bench)

    def show(self) -> None:
        """Fill the view, with the cards that were shown last if there still are any of their title."""
        self.is_shown = True
        stale, before = not self.fresh, self.cards
        if stale:
            self.fresh = True
            if self.state.result is not None or self.state.parts:
                import_shared()
            cards = self.tab.all_cards(self.state)
            self.cards = {card.name: CardWidget(self.bench, card) for card in cards}
            if not self.is_chosen or self.title not in self._titles:
                self.title = self._first_title()
        self._turn()
        if stale:
            for card in before.values():
                card.close()
            if self.tab.tools is not None:
                self.tools_status.value = ""
                W.replace(self.tools, *self.tab.tools(self.bench, self.tools_status))

    def _first_title(self) -> str:
        """Return what the view begins with, where there is a card of it or nothing else is made."""
        titles = [card.card.title for card in self.cards.values()] or self._titles
        offer = None if self.tab.first is None else KINDS.in_role(self.tab.first(self.state))
        first = "" if offer is None else offer.title
        return first if first in titles else next(iter(titles), "")

    @property
    def _titles(self) -> list[str]:
        """The titles of the cards, then of what can be made; those that all are pills never move."""
        titles = [*dict.fromkeys([*(card.card.title for card in self.cards.values()), *self.offers])]
        if len(titles) <= self.tab.pills:
            titles.sort(key=lambda title: [*self.offers].index(title) if title in self.offers else -1)
        return titles

    def choose(self, title: str | None) -> None:
        """Show the figure with this title, or how to make it; it stays until another one is chosen."""
        if title in self._titles:
            self.is_chosen, self.title = True, title
            self._turn()

    def _turn(self) -> None:
        """Show the cards of the chosen title and side, or how to make them.

        A page may tell of a switch after it tells that the view was left: what is drawn then has no size.
        """
        if not self.is_shown:
            return
        title, titles = self.title, self._titles
        _offer(self.which, titles[: self.tab.pills], title)
        _offer(self.more, [MORE, *titles[self.tab.pills :]], title, MORE)
        of_title = [card for card in self.cards.values() if card.card.title == title]
        labels = [*(card.card.label for card in of_title), BOTH] if len(of_title) > 1 else []
        _offer(self.side, labels, self.side.value, next(iter(labels), None))
        chosen = [card for card in of_title if self.side.value in (card.card.label, BOTH, None)]
        line = self.line(self.offers[title]) if title in self.offers else None
        shows_form = line is not None and (not chosen or bool(line.fields))
        self._fill_bar(chosen, again=not shows_form)
        shown = [card.widget for card in chosen]
        if line is not None and shows_form:
            shown.insert(0, line.widget)
        if not self.cards and self.tab.empty:
            shown.insert(0, self.hint)
        if list(self.content.children) != shown:
            self.content.children = shown
            for card in chosen:
                card.show()
        held = self.state.whole_part(chosen[0].card.part) if self.tab.has_limits and chosen else None
        asks = held is not None and held.knows_best
        self.below.children = (self.limits.widget,) if asks else ()
        if asks:
            self.limits.show(chosen[0].card.part)

    def _fill_bar(self, chosen: Sequence[CardWidget], *, again: bool = False) -> None:
        """Put the sentence of a single card, the switches and its menu into one row."""
        for card in chosen:
            card.place_menu(inside=len(chosen) > 1)
        alone = chosen[0] if len(chosen) == 1 else None
        switches = [switch for switch in (self.which, self.side) if len(switch.options) > 1]
        more = [self.more] if len(self.more.options) > 1 else []
        makes = [self.again] if again and chosen and chosen[0].card.kind in self.kinds else []
        heading, menu = (self.untitled, []) if alone is None else (alone.title, [alone.menu])
        self.bar.children = [heading, *switches, *more, *makes, *menu]

    def _again(self) -> None:
        self.bench.run(next(made.card.kind for made in self.cards.values() if made.card.title == self.title))

    def turn_to(self, kind: str) -> None:
        """Show a kind of result, or how to make it."""
        of_kind = [made.card.title for made in self.cards.values() if made.card.kind == kind]
        titles = of_kind or [title for title, offer in self.offers.items() if offer.name == kind]
        if titles and self.title not in titles:
            self.choose(titles[0])

    def hide(self) -> None:
        """Take everything out of the page; drawn cards are kept here."""
        self.is_shown = False
        self.content.children = ()


def _offer(switch: Any, options: list[str], value: str | None, other: str | None = None) -> None:
    """Give a switch its options, and choose a value, or the `other` one where it is none of them."""
    with own_changes():
        if list(switch.options) != options:
            switch.options = options
        switch.value = value if value in options else other
