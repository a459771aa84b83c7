"""A view: one figure with a sentence as its title, a switch to the others, or what to press to get one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, on_change, own_changes
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import CardWidget
from workbench.apps.panels.tabs.form import FormLine
from workbench.apps.panels.tabs.limits import LimitsLine
from workbench.apps.panels.task_thread import import_shared
from workbench.core.feature import Offer, function_at
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
    first: Callable[[BenchState], str] | None = None  # the title to begin with; else that of the first figure
    opens_with: str = ""  # the kind that is made when a person turns to the view, where that takes seconds

    def all_cards(self, state: BenchState) -> list[Card]:
        """Return the cards that features make, those of the comparison, then one of each other result."""
        made = [offer for offer in self.offers if held(state, offer)]
        own = [card for offer in made if offer.has_cards
               for card in function_at(KINDS.named(offer.name).cards)(state)]  # fmt: skip
        plain = [card for offer in made if not offer.has_cards for card in plain_cards(state, offer)]
        return [*own, *self._compared(state), *plain]

    def _compared(self, state: BenchState) -> Iterator[Card]:
        if state.result is not None:
            cards: Sequence[Card] = function_at(state.result.feature.cards)(state)
            yield from (card for card in cards if card.view == self.title)

    @property
    def offers(self) -> list[Offer]:
        """What is made in this view."""
        return [offer for offer in KINDS.offered(self.title) if offer.tabs[0] == self.title]


def held(state: BenchState, kind: Offer) -> dict[str, Any]:
    """Return the results of a kind by label; one about all runs has none."""
    if kind.per != "runs":
        return state.held_parts(kind.name)
    whole = state.whole_part(kind.name)
    return {} if whole is None else {"": whole}


def plain_cards(state: BenchState, kind: Offer) -> list[Card]:
    """Return a card with the figure and the table of each result of a kind, or of all on one axis."""
    parts = held(state, kind)
    if not kind.side_by_side:
        return [part_card(kind.name, label, part, key=kind.key) for label, part in parts.items()]
    joined: Any = KINDS.named(kind.name).result
    both = joined.of({label: part.record for label, part in parts.items()})
    code, part = f"result.{kind.method}()", f"{kind.name}/{max(parts)}"
    return [Card(kind.name, code, str(both), both.figure, both.to_frame, "node", part=part)]


BOTH = "both"
MORE = ("more…", "")  # the first entry of the list of titles


class TabPage:
    """A view on the screen: filled when it is shown, so that figures are drawn at the size they have."""

    def __init__(self, bench: Bench, tab: Tab) -> None:
        self.bench, self.state, self.tab = bench, bench.state, tab
        self.status, self.untitled = W.HTML(), W.HTML()
        self.hint = W.HTML(f'<div class="wbp-empty">{text(tab.empty)}</div>')
        self.content = W.VBox([], classes="wbp-cards")
        self.kinds = {offer.title: offer.name for offer in tab.offers}  # by their titles
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
        self.lines: dict[str, FormLine] = {}  # by the names of kinds
        self.tools, self.tools_status = W.HBox([], classes="wbp-tools"), W.HTML()
        self.below = W.VBox([])  # the limits, while there is a result to ask
        tools = [self.tools, self.tools_status] if tab.tools else []
        self.widget = W.VBox([self.bar, self.status, self.content, *tools, self.below], classes="wbp-page")
        self.cards: dict[str, CardWidget] = {}
        self.fresh = False  # the cards show the state as it is
        self.is_shown = False
        self._fill_bar(())

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
        made = {card.card.title for card in self.cards.values()}
        first = "" if self.tab.first is None else self.tab.first(self.state)
        return first if first in (made or self._titles) else next(iter(self._titles), "")

    @property
    def _titles(self) -> list[str]:
        """The titles of the cards, then of what can be made."""
        return list(dict.fromkeys([*(card.card.title for card in self.cards.values()), *self.kinds]))

    def choose(self, title: str | None) -> None:
        """Show the figure with this title, or how to make it; it stays until another one is chosen."""
        if title:
            self.is_chosen, self.title = True, title
            self._turn()

    def _offer_titles(self) -> None:
        """Put the first titles beside each other, and the others into a list."""
        pills, others = self._titles[: self.tab.pills], self._titles[self.tab.pills :]
        options = (MORE, *((title, title) for title in others))
        with own_changes():
            _offer(self.which, pills)
            if options != self.more.options:
                self.more.options = options
            self.which.value = self.title if self.title in pills else None
            self.more.value = self.title if self.title in others else ""

    def _turn(self) -> None:
        """Show the cards of the chosen title and side, or how to make them.

        A page may tell of a switch after it tells that the view was left: what is drawn then has no size.
        """
        if not self.is_shown:
            return
        title = self.title
        self._offer_titles()
        of_title = [card for card in self.cards.values() if card.card.title == title]
        labels = [card.card.label for card in of_title]
        _offer(self.side, [*labels, BOTH] if len(labels) > 1 else [])
        chosen = [card for card in of_title if self.side.value in (card.card.label, BOTH, None)]
        self._fill_bar(chosen)
        shown = [card.widget for card in chosen]
        if title in self.kinds and (not chosen or self._line(self.kinds[title]).fields):
            shown.insert(0, self._line(self.kinds[title]).widget)
        if not self.cards and self.tab.empty:
            shown.insert(0, self.hint)
        if list(self.content.children) != shown:
            self.content.children = shown
            for card in chosen:
                card.show()
        part = chosen[0].card.part if chosen else None
        if self.tab.has_limits:
            asks = self._knows_best(part)
            self.below.children = (self.limits.widget,) if asks else ()
            if asks and part is not None:
                self.limits.show(part)

    def _knows_best(self, part: str | None) -> bool:
        """Return whether the result of a card knows its best config within limits."""
        if part == "":
            return self.state.result is not None
        from workbench.features.grid.best import ConfigChoice  # once there is a result

        return part in KINDS.names and issubclass(KINDS.named(part).result, ConfigChoice)

    @cached_property
    def limits(self) -> LimitsLine:
        """The fields of limits and the answer, made when there is the first result to ask."""
        return LimitsLine(self.bench)

    def _line(self, kind: str) -> FormLine:
        """Return the sentence and the button of a kind; made when it is first shown."""
        if kind not in self.lines:
            self.lines[kind] = FormLine(self.bench, KINDS.offer(kind))
        return self.lines[kind]

    def _fill_bar(self, chosen: Sequence[CardWidget]) -> None:
        """Put the sentence of a single card, the switches and its menu into one row."""
        for card in chosen:
            card.place_menu(inside=len(chosen) > 1)
        alone = chosen[0] if len(chosen) == 1 else None
        switches = [switch for switch in (self.which, self.side) if len(switch.options) > 1]
        more = [self.more] if len(self.more.options) > 1 else []
        again = [self.again] if chosen and chosen[0].card.kind in self.kinds.values() else []
        self.heading = self.untitled if alone is None else alone.title
        menu = [] if alone is None else [alone.menu]
        self.bar.children = [self.heading, *switches, *more, *again, *menu]

    def _again(self) -> None:
        self.bench.run(next(made.card.kind for made in self.cards.values() if made.card.title == self.title))

    def turn_to(self, kind: str) -> None:
        """Show a kind of result, or how to make it."""
        of_kind = [made.card.title for made in self.cards.values() if made.card.kind == kind]
        titles = of_kind or [title for title, made in self.kinds.items() if made == kind]
        if titles and self.title not in titles:
            self.choose(titles[0])

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
