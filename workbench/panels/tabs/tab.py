"""A tab: its cards, or what to press to get them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import button
from workbench.panels.changes import on_change, own_changes
from workbench.panels.markup import text
from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card, CardWidget
from workbench.results.registry import KINDS, ResultKind


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

    def all_cards(self, state: BenchState) -> list[Card]:
        """Return the cards of the tab itself, then those of the other kinds whose first tab it is."""
        kinds = [kind for kind in KINDS.offered(self.title) if kind.tabs[0] == self.title]
        plain = [card for kind in kinds if kind.name not in self.own for card in part_cards(state, kind)]
        return [*(self.cards(state) if self.cards is not None else ()), *plain]


def part_cards(state: BenchState, kind: ResultKind) -> list[Card]:
    """Return a card with the figure and the table of each result of a kind."""
    if kind.scope == "runs":
        whole = state.whole_part(kind.name)
        code = f'result.made("{kind.name}")'
        return (
            []
            if whole is None
            else [
                Card(kind.name, f"{code}.figure()", str(whole), whole.figure, whole.to_frame, part=kind.name)
            ]
        )
    return [
        Card(
            f"{kind.name}, {label}", f"{part_code(kind.name, label)}.figure()", str(part), part.figure,
            part.to_frame, kind.key, part=f"{kind.name}/{label}",
        )
        for label, part in state.held_parts(kind.name).items()
    ]  # fmt: skip


def part_code(kind: str, label: str) -> str:
    """Return the expression that gives a part of `result`."""
    return f'result.made("{kind}", "{label}")'


APART = (
    '<div class="wbp-note" role="status">⚠ This is about A and B as they were in the panels when it '
    "was made, not about those of the verdict above.</div>"
)


class TabPage:
    """A tab on the screen: filled when it is shown, so that figures are drawn at the size they have."""

    def __init__(self, bench: Bench, tab: Tab) -> None:
        self.bench, self.state, self.tab = bench, bench.state, tab
        self.status, self.apart, self.content = W.HTML(), W.HTML(), W.VBox([])
        self.buttons = {
            kind.name: button(kind.button, kind.hint, partial(bench.run, kind.name), self.status)
            for kind in KINDS.offered(tab.title)
        }
        row = W.HBox(list(self.buttons.values()))
        row.add_class("wbp-tools")
        self.which = W.ToggleButtons(options=[])
        self.which.add_class("wbp-pills")
        self.tools = tab.tools(bench) if tab.tools is not None else None
        row_shown, tools = [row] if self.buttons else [], [self.tools.widget] if self.tools else []
        self.widget = W.VBox([*row_shown, self.status, self.apart, *tools, self.which, self.content])
        self.widget.add_class("wbp-page")
        self.cards: dict[str, CardWidget] = {}
        self.fresh = False  # the cards show the state as it is
        on_change(self.which, lambda _: self._turn())
        self.state.observe(lambda _: self._enable(), names=["job", "model", "result"])
        self._enable()

    def _enable(self) -> None:
        for kind, pressed in self.buttons.items():
            pressed.disabled = self.state.job is not None
            again = " again" if self.state.has_part(kind) else ""
            pressed.description = f"{KINDS.named(kind).button}{again}"

    def show(self) -> None:
        """Fill the tab, with the card that was shown last if there still is one of its title."""
        stale = not self.fresh
        if stale:
            self.fresh, last = True, self.which.value
            self.cards = {card.title: CardWidget(self.bench, card) for card in self.tab.all_cards(self.state)}
            titles = list(self.cards)
            with own_changes():
                self.which.options = titles
                self.which.value = last if last in self.cards else (titles[0] if titles else None)
            self.which.layout.display = None if len(titles) > 1 else "none"
            self._enable()
        self.apart.value = APART if self.state.parts_apart and self.cards else ""
        self._turn()
        if stale and self.tools is not None:
            self.tools.refresh()

    def _turn(self) -> None:
        card = self.cards.get(self.which.value)
        if card is None:
            self.content.children = [W.HTML(f'<div class="wbp-empty">{text(self.tab.empty)}</div>')]
        elif list(self.content.children) != [card.widget]:
            self.content.children = [card.widget]
            card.show()

    def hide(self) -> None:
        """Take everything out of the page; drawn cards are kept here."""
        self.content.children = ()

    def forget(self) -> None:
        """Make the cards anew when they are shown next: the state has changed."""
        self.fresh = False
