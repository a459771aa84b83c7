"""Findings: what costs time or memory under A and B, and buttons that try each fix."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import kind_code
from workbench.apps.panels.fixes import fix_name
from workbench.apps.panels.handlers import button, link_selection, use_button
from workbench.apps.panels.table import TableWidget
from workbench.apps.panels.tabs.answer_words import progress_html
from workbench.apps.panels.tabs.form import FormLine
from workbench.core.config import Config
from workbench.core.text import counted, one_line
from workbench.drawing.card import ConfigUse
from workbench.drawing.page.banner import verdict_html
from workbench.features.base.registry import KINDS
from workbench.features.findings.html import (
    body_html,
    fix_html,
    gain_html,
    head_html,
    outcome_html,
    rest_html,
)
from workbench.features.findings.record import FindingRecord, FindingsRecord
from workbench.features.improve.html import steps_html
from workbench.features.improve.record import ImprovementRecord

MOST_LINKS = 3  # nodes with a link of their own; further ones stand in a table
LINK = "wbp-small wbp-link"
_NAME = 40  # letters of a node's name in a link; the end says which node it is


class FindingsList:
    """What was tried in `tried`; the findings of each config in `widget`, the largest gain first."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.cards: list[FindingCard] = []
        self.held: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        self.list, self.tried = W.VBox([]), W.VBox([], classes="wbp-tried")
        self.look = FormLine(bench, KINDS.named("findings").offer)
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
        use = use_button(
            self.state, ConfigUse("B", "", "Put the proven config into B", lambda _: record.config), status
        )
        copy = self.bench.page.copy_button("Copy code", "The code that does the same", self._code, status)
        row = W.HBox([use, copy] if record.config != record.start else [copy])
        row.add_class("wbp-tools")
        proven = [] if record.comparison is None else [W.HTML(verdict_html(record.comparison))]
        steps = W.HTML(steps_html(label, record))
        return W.VBox([*proven, row, steps, status], classes="wbp-improvement")

    def _code(self) -> str:
        """Return the code that makes the improvement on the screen."""
        return kind_code(KINDS.named("improvement"), self.state.request_made())

    def _found(self, label: str, record: FindingsRecord) -> list[W.Widget]:
        """Return the widgets of one config's findings."""
        cards = [FindingCard(self.bench, label, record, finding) for finding in record.large]
        self.cards += cards
        return [W.HTML(head_html(label, record)), *(card.widget for card in cards), W.HTML(rest_html(record))]

    def _follow(self) -> None:
        for card in self.cards:
            card.follow()


class FindingCard:
    """A finding on the screen. `follow` shows what the state says about it: tried, running, selected."""

    def __init__(self, bench: Bench, label: str, findings: FindingsRecord, finding: FindingRecord) -> None:
        self.bench, self.state = bench, bench.state
        self.label, self.finding, self.key = label, finding, (findings, finding)
        self.outcome, self.progress, self.status = W.HTML(), W.HTML(), W.HTML()
        self.links = NodeLinks(bench, finding.nodes, self.status)
        hint = "Measure this fix against the config, check the outputs, and say whether it is worth keeping"
        self.try_it = button("Try it", hint, partial(bench.try_fix, label, finding), self.status)
        self.cancel = button("Cancel", "Stop trying this fix", bench.cancel, self.status)
        fixed = ConfigUse("B", "", "Put the config with this fix into B", self._config)
        self.use = use_button(self.state, fixed, self.status)
        code = partial(bench.fix_code, label, finding)
        hint = "The code that finds this and tries it"
        self.copy = bench.page.copy_button("Copy code", hint, code, self.status)
        able = [self.try_it, self.cancel, self.use] if finding.fix.can_try else []
        buttons = W.VBox([*able, self.copy], classes="wbp-finding-buttons")
        gain = W.HTML(gain_html(finding), classes="wbp-finding-gain")
        below = [W.HTML(fix_html(finding)), self.outcome, self.progress, self.status]
        body = W.VBox([W.HTML(body_html(finding)), self.links.widget, *below], classes="wbp-finding-body")
        self.widget = W.HBox([gain, body, buttons], classes="wbp-finding")

    def follow(self) -> None:
        """Show whether the fix runs, what came of it, and which of the nodes are selected."""
        view, tried = self.state.job, self.state.tried.get(self.key)
        running = view is not None and view.name == fix_name(self.label, self.finding)
        self.progress.value = progress_html(view) if running else ""
        self.outcome.value = "" if tried is None else outcome_html(tried)
        self.try_it.description = "Try it" if tried is None else "Try it again"
        self.try_it.disabled = view is not None
        W.set_shown(self.try_it, not running)
        W.set_shown(self.use, self._fixed() is not None)
        W.set_shown(self.cancel, running)
        self.cancel.disabled = running and view.cancelling
        self.links.follow()

    def _fixed(self) -> Config | None:
        """Return the config with the fix; None before a search found it."""
        tried = self.state.tried.get(self.key)
        return self.finding.fix.config or (tried.config if tried is not None and tried.kept else None)

    def _config(self, _: Config) -> Config:
        fixed = self._fixed()
        assert fixed is not None
        return fixed


class NodeLinks:
    """Links that select nodes in the graph, the flame and the tables; a table for many."""

    def __init__(self, bench: Bench, nodes: tuple[str, ...], status: W.HTML) -> None:
        self.bench, self.state, self.nodes = bench, bench.state, nodes
        several = len(nodes) > MOST_LINKS
        self.links = {
            node: button(
                short(node), f"Select {one_line(node)} in every view",
                partial(setattr, self.state, "selected", (node,)), status, classes=LINK,
            )
            for node in nodes[: MOST_LINKS - several]
        }  # fmt: skip
        self.all = button(
            f"all {counted(len(nodes), 'node')}", "Select them in every view, and list them here",
            self._list, status, classes=LINK,
        )  # fmt: skip
        self.listing = W.VBox([])
        row = W.HBox([*self.links.values(), *([self.all] if several else [])], classes="wbp-links")
        self.widget = W.VBox([row, self.listing] if nodes else [])

    def follow(self) -> None:
        """Mark the links of nodes that are selected."""
        for node, link in self.links.items():
            (link.add_class if node in self.state.selected else link.remove_class)("wbp-selected")

    def _list(self) -> None:
        """Select all nodes and open the table, or close it."""
        if self.listing.children:
            W.replace(self.listing)
            return
        self.state.selected = self.nodes
        rows = [(node,) for node in self.nodes]
        table = TableWidget.of_rows(("node",), rows, "Nodes: pick those to select in every view.", key=0)
        link_selection(self.bench.state, table, "chosen")
        self.listing.children = (table,)


def short(name: str) -> str:
    """Return the end of a long name of a node."""
    end = one_line(name[-_NAME:], _NAME)
    return end if len(name) <= _NAME else f"…{end}"
