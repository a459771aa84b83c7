"""Findings: what costs time or memory under A and B, and buttons that try each fix."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.handlers import use_button
from workbench.apps.panels.tabs.finding_card import FindingCard
from workbench.apps.panels.tabs.finding_texts import head_html, rest_html, steps_html
from workbench.apps.panels.tabs.form import FormLine
from workbench.drawing.page.banner import verdict_html
from workbench.features.base.registry import KINDS
from workbench.features.findings.record import FindingsRecord
from workbench.features.improve.record import ImprovementRecord

_LOOK = (
    "Looks at the graph that runs, its profile and its weights under A and B, and lists what costs time, "
    "memory or accuracy: the evidence, the fix and the gain to expect."
)


class FindingsList:
    """What was tried in `tried`; the findings of each config in `widget`, the largest gain first."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.cards: list[FindingCard] = []
        self.held: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        self.list, self.tried = W.VBox([]), W.VBox([], classes="wbp-tried")
        self.look = FormLine(bench, KINDS.named("findings").offer, _LOOK)
        self.widget = W.VBox([self.look.widget, self.list], classes="wbp-findings")
        self.state.observe(lambda _: self._follow(), names=["job", "tried", "selected"])

    def refresh(self) -> None:
        """Show the findings that there are now; cards of the same findings stay, and so does the focus."""
        kinds = ("improvement", "findings")
        improved, findings = (
            {label: part.record for label, part in self.state.held_parts(kind).items()} for kind in kinds
        )
        if (improved, findings) != self.held:
            self.held, self.cards = (improved, findings), []
            W.replace(self.tried, *(self._tried(label, record) for label, record in improved.items()))
            W.replace(
                self.list,
                *(widget for label, record in findings.items() for widget in self._found(label, record)),
            )
        self._follow()

    def _tried(self, label: str, record: ImprovementRecord) -> W.Widget:
        """Return the widgets of a config that was improved: the answer, what to do with it, the fixes."""
        status = W.HTML()
        use = use_button(self.state, "B", "Put the proven config into B", lambda: record.config, status)
        copy = self.bench.page.copy_button("Copy code", "The code that does the same", self._code, status)
        row = W.HBox([use, copy] if record.config != record.start else [copy])
        row.add_class("wbp-tools")
        proven = [] if record.comparison is None else [W.HTML(verdict_html(record.comparison))]
        steps = W.HTML(steps_html(label, record))
        return W.VBox([*proven, row, steps, status], classes="wbp-improvement")

    def _code(self) -> str:
        """Return the code that makes the improvement on the screen."""
        request = self.state.request()
        subject = self.state.parts_subject or request.subject
        forms = self.state.forms_made or request.forms
        return kind_code(KINDS.named("improvement"), replace(request, subject=subject, forms=forms))

    def _found(self, label: str, record: FindingsRecord) -> list[W.Widget]:
        """Return the widgets of one config's findings."""
        cards = [FindingCard(self.bench, label, record, finding) for finding in record.large]
        self.cards += cards
        return [W.HTML(head_html(label, record)), *(card.widget for card in cards), W.HTML(rest_html(record))]

    def _follow(self) -> None:
        for card in self.cards:
            card.follow()
