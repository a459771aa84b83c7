"""The mode improve: the proven answer with its fixes, the configs that a search tried, and the findings."""

from __future__ import annotations

from typing import Any

import workbench as wb
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


class ImprovePage:
    """The form in `row`; what was improved in `tried`, what was searched, the findings of each config."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.row, finds = ImproveRow(bench), KINDS.in_role("finds")
        assert finds is not None
        self.improvement, self.look = self.row.kind, FormLine(bench, finds)
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
        improved, findings = self.state.held_in_role("improves"), self.state.held_in_role("finds")
        held = [{label: part.record for label, part in parts.items()} for parts in (improved, findings)]
        if held != self.held:
            if improved:
                self.hide()
            self.held, self.findings = held, []
            alone = len(self.state.request().subject.distinct) == 1  # else those of B were not looked for
            has_all = alone and any(record.findings for record in held[0].values())
            W.set_shown(self.look.widget, not has_all)
            W.replace(self.tried, *(self._tried(label, made) for label, made in improved.items()))
            W.replace(self.list, *(widget for label, found in findings.items()
                                   for widget in self._found(label, found)))  # fmt: skip
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
        if not self.state.held_in_role("improves"):
            self.hide()

    def _tried(self, label: str, made: Any) -> W.Widget:
        """Return the answer about a config that was improved, what to do with it, and the fixes."""
        status, record = W.HTML(), made.record
        uses = [use_button(self.state, use, status) for use in made.uses()]
        copy = self.bench.page.copy_button("Copy code", "The code that does the same", self._code, status)
        proven = [] if record.comparison is None else [W.HTML(verdict_html(record.comparison))]
        row = W.HBox([*uses, copy], classes="wbp-tools")
        parts = [W.HTML(made.html(label)), row]
        return W.VBox([*proven, *(parts[::-1] if proven else parts), status], classes="wbp-improvement")

    def _code(self) -> str:
        return kind_code(self.improvement, self.state.request_made())

    def _found(self, label: str, findings: wb.Findings) -> list[W.Widget]:
        """Return the widgets of one config's findings."""
        large = (finding for finding in findings if not finding.is_small)
        cards = [FindingCard(self.bench, label, findings, finding) for finding in large]
        self.findings += cards
        above, below = map(W.HTML, findings.html(label))
        return [above, *(card.widget for card in cards), below]
