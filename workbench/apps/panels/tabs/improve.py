"""The mode improve: the proven answer with its fixes, the configs that a search tried, and the findings."""

from __future__ import annotations

from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.handlers import use_button
from workbench.apps.panels.improve_row import ImproveRow
from workbench.apps.panels.tabs.card import CardWidget
from workbench.apps.panels.tabs.findings import FindingCard
from workbench.apps.panels.tabs.form import FormLine
from workbench.core.feature import function_at
from workbench.drawing.page.banner import verdict_html
from workbench.features.base.registry import KINDS
from workbench.features.findings.html import head_html, rest_html
from workbench.features.findings.record import FindingsRecord
from workbench.features.improve.html import steps_html


class ImprovePage:
    """The form in `row`; what was improved in `tried`, what was searched, the findings of each config."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.row, self.improvement = ImproveRow(bench), KINDS.named("improvement")
        self.look = FormLine(bench, KINDS.offer("findings"))
        self.held: list[dict[str, Any]] = []  # the records that are on the screen
        self.findings: list[FindingCard] = []
        self.searches: list[CardWidget] = []
        self.tried, self.list = W.VBox([], classes="wbp-tried"), W.VBox([])
        self.searched = W.VBox([], classes="wbp-cards")
        below = W.VBox([self.look.widget, self.list], classes="wbp-findings")
        self.state.observe(self._new_model, names="model")
        self.widget = W.VBox([self.tried, self.searched, below], classes="wbp-page wbp-improve")

    def show(self) -> None:
        """Show what there is now; cards of the same findings stay, and so does the focus.

        A search from which a person takes a config stays, too, though it is about what was set before.
        """
        improved, findings = map(self.state.held_parts, ("improvement", "findings"))
        held = [{label: part.record for label, part in parts.items()} for parts in (improved, findings)]
        if held != self.held:
            if improved:
                self.hide()
            self.held, self.findings = held, []
            W.set_shown(self.look.widget, not any(record.findings for record in held[0].values()))
            W.replace(self.tried, *(self._tried(label, made) for label, made in improved.items()))
            W.replace(self.list, *(widget for label, record in held[1].items()
                                   for widget in self._found(label, record)))  # fmt: skip
        if not self.searches:
            cards = function_at(self.improvement.cards)(self.state)
            self.searches = [CardWidget(self.bench, card) for card in cards]
            self.searched.children = [card.widget for card in self.searches]
            for card in self.searches:
                card.place_menu(inside=True)
                card.show()
        for made_again in (link for card in self.searches for link in (card.pin, card.copy)):
            W.set_shown(made_again, bool(improved))  # else their code would be about what is set now

    def hide(self) -> None:
        """Take the figures out of the page: what is drawn out of sight has no size."""
        self.bench.page.bridge.on.pop("pick", None)
        for card in self.searches:
            card.close()
        self.searches, self.searched.children = [], ()

    def _new_model(self, _: object) -> None:
        if not self.state.held_parts("improvement"):
            self.hide()

    def _tried(self, label: str, made: Any) -> W.Widget:
        """Return the answer about a config that was improved, what to do with it, and the fixes."""
        status, record = W.HTML(), made.record
        uses = [use_button(self.state, use, status) for use in made.uses()]
        copy = self.bench.page.copy_button("Copy code", "The code that does the same", self._code, status)
        proven = [] if record.comparison is None else [W.HTML(verdict_html(record.comparison))]
        row = W.HBox([*uses, copy], classes="wbp-tools")
        return W.VBox([*proven, row, W.HTML(steps_html(label, record)), status], classes="wbp-improvement")

    def _code(self) -> str:
        return kind_code(self.improvement, self.state.request_made())

    def _found(self, label: str, record: FindingsRecord) -> list[W.Widget]:
        """Return the widgets of one config's findings."""
        cards = [FindingCard(self.bench, label, record, finding) for finding in record.large]
        self.findings += cards
        return [W.HTML(head_html(label, record)), *(card.widget for card in cards), W.HTML(rest_html(record))]
