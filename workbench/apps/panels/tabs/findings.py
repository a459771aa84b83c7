"""A finding with the button that tries its fix, and the links to its nodes."""

from __future__ import annotations

from functools import partial

import workbench as wb
from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.fixes import fix_code, fix_name
from workbench.apps.panels.handlers import button, follow, link_selection, use_button
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import TableWidget
from workbench.apps.panels.tabs.answer_words import progress_html
from workbench.core.config import Config
from workbench.core.text import counted, ending, one_line
from workbench.drawing.card import ConfigUse

MOST_LINKS = 3  # nodes with a link of their own; further ones stand in a table
LINK = "wbp-link"
_NAME = 40  # letters of a node's name in a link
_TRY = "Measure this fix against the config, check the outputs, and say whether it is worth keeping"


class FindingCard:
    """A finding on the screen, which follows what the state says about it: tried, running, selected."""

    def __init__(self, bench: Bench, label: str, findings: wb.Findings, finding: wb.Finding) -> None:
        self.bench, self.state = bench, bench.state
        self.label, self.findings, self.finding = label, findings, finding.record
        self.key = findings.record, finding.record
        self.outcome, self.status = W.HTML(), W.HTML()
        self.links = NodeLinks(self.state, finding.nodes, self.status)
        self.try_it = button("Try it", _TRY, self._press, self.status, classes="wbp-small wbp-try")
        use = ConfigUse("B", "", "Put the config with this fix into B", lambda config: self._fixed or config)
        self.use = use_button(self.state, use, self.status)
        copy = bench.page.copy_button("Copy code", "Code that finds and tries it", self._code, self.status)
        able = [self.try_it, self.use] if finding.fix.can_try else []
        self.buttons = W.VBox([*able, copy], classes="wbp-finding-buttons")
        html = finding.html
        gain = W.HTML(html.gain, classes="wbp-finding-gain")
        words = [W.HTML(html.body), self.links, W.HTML(html.fix)]
        body = W.VBox([*words, self.outcome, self.status], classes="wbp-finding-body")
        self.widget = W.HBox([gain, body, self.buttons], classes="wbp-finding")
        follow(self.state, self._show, "job", "tried", until=self.widget)

    @property
    def _runs(self) -> bool:
        job = self.state.job
        return job is not None and job.name == fix_name(self.label, self.finding)

    @property
    def _fixed(self) -> Config | None:
        """The config with the fix; None before a search found it."""
        tried = self.state.tried.get(self.key)
        return self.finding.fix.config or (tried.config if tried is not None and tried.kept else None)

    def _code(self) -> str:
        return fix_code(self.state.request_made(), self.findings, self.finding)

    def _press(self) -> None:
        self.bench.cancel() if self._runs else self.bench.try_fix(self.label, self.finding)

    def _show(self) -> None:
        """Show whether the fix runs, and what came of it."""
        job, tried = self.state.job, self.state.tried.get(self.key)
        outcome = "" if tried is None else tried.html
        self.outcome.value = outcome + (progress_html(job) if self._runs else "")
        self.try_it.description = "Cancel" if self._runs else "Try it again" if tried else "Try it"
        self.try_it.disabled = job is not None and (job.cancelling or not self._runs)
        W.set_shown(self.use, self._fixed is not None)


class NodeLinks(W.VBox):
    """Links that select nodes in the graph, the flame and the tables; a table for many."""

    def __init__(self, state: BenchState, nodes: tuple[str, ...], status: W.HTML) -> None:
        self.state, self.nodes = state, nodes
        several = len(nodes) > MOST_LINKS
        self.links = {
            node: button(
                ending(node, _NAME), f"Select {one_line(node)} in every view",
                partial(setattr, state, "selected", (node,)), status, classes=LINK,
            )
            for node in nodes[: MOST_LINKS - several]
        }  # fmt: skip
        hint = "Select them in every view, and list them here"
        self.all = button(f"all {counted(len(nodes), 'node')}", hint, self._list, status, classes=LINK)
        self.listing = W.VBox([])
        row = W.HBox([*self.links.values(), *([self.all] if several else [])], classes="wbp-links")
        super().__init__([row, self.listing] if nodes else [])
        follow(state, self._mark, "selected", until=self)

    def _mark(self) -> None:
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
        link_selection(self.state, table, "chosen")
        self.listing.children = (table,)
