"""The results column: the verdict, the row of buttons below it, and the tabs."""

from __future__ import annotations

from typing import Any, Protocol

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.tabs.accuracy import ACCURACY_TAB
from workbench.panels.tabs.findings import FINDINGS
from workbench.panels.tabs.flame import FLAME
from workbench.panels.tabs.fusions import FUSIONS
from workbench.panels.tabs.graph import GRAPH
from workbench.panels.tabs.history import HistoryPage
from workbench.panels.tabs.latency import LATENCY
from workbench.panels.tabs.memory import MEMORY
from workbench.panels.tabs.questions import Questions
from workbench.panels.tabs.result_row import ResultRow
from workbench.panels.tabs.roofline import ROOFLINE_TAB, THREADS_TAB
from workbench.panels.tabs.tab import TabPage
from workbench.panels.tabs.verdict import Banner

TABS = (LATENCY, GRAPH, FUSIONS, FLAME, MEMORY, ACCURACY_TAB, FINDINGS, ROOFLINE_TAB, THREADS_TAB)


class Page(Protocol):
    """The content of a tab."""

    widget: W.Widget

    def show(self) -> None: ...
    def hide(self) -> None: ...
    def forget(self) -> None: ...


class Results:
    """Only the selected tab holds anything: a figure drawn out of sight has no size."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.banner, self.row = Banner(bench), ResultRow(bench)
        self.pages: list[Page] = [*(TabPage(bench, tab) for tab in TABS), HistoryPage(bench)]
        self.tabs = W.Tab(children=[page.widget for page in self.pages])
        self.tabs.add_class("wbp-tabs")
        for place, title in enumerate([*(tab.title for tab in TABS), "history"]):
            self.tabs.set_title(place, title)
        self.tabs.selected_index = 0
        self.questions = Questions(bench, self.row, self.turn)
        self.widget = W.VBox([self.banner.widget, self.questions.widget, self.row.widget, self.tabs])
        self.tabs.observe(self._turned, names="selected_index")
        self.state.observe(self._changed, names=["result", "parts", "parts_made"])
        self.pages[0].show()

    def turn(self, title: str) -> None:
        """Select a tab by its title."""
        self.tabs.selected_index = list(self.tabs.titles).index(title)

    def _turned(self, change: dict[str, Any]) -> None:
        for place in (change["old"], change["new"]):
            if place is not None:
                page = self.pages[place]
                page.show() if place == change["new"] else page.hide()

    def _changed(self, _: object) -> None:
        for page in self.pages:
            page.forget()
        self.pages[self.tabs.selected_index or 0].show()
