"""The results column: the verdict, the row of buttons below it, and the tabs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.tabs.accuracy import ACCURACY_TAB
from workbench.apps.panels.tabs.findings import FINDINGS
from workbench.apps.panels.tabs.flame import FLAME
from workbench.apps.panels.tabs.fusions import FUSIONS
from workbench.apps.panels.tabs.graph import GRAPH
from workbench.apps.panels.tabs.latency import LATENCY
from workbench.apps.panels.tabs.memory import MEMORY_TAB
from workbench.apps.panels.tabs.questions import Questions
from workbench.apps.panels.tabs.result_row import ResultRow
from workbench.apps.panels.tabs.roofline import ROOFLINE_TAB, THREADS_TAB
from workbench.apps.panels.tabs.scenarios import SCENARIOS
from workbench.apps.panels.tabs.tab import TabPage
from workbench.apps.panels.tabs.verdict import Banner
from workbench.features.base.registry import KINDS

MARK = " •"  # behind the title of a tab with something new
TABS = (
    *(LATENCY, GRAPH, FUSIONS, FLAME, MEMORY_TAB),
    *(ACCURACY_TAB, FINDINGS, ROOFLINE_TAB, THREADS_TAB, SCENARIOS),
)


class Page(Protocol):
    """The content of a tab."""

    widget: W.Widget

    def show(self) -> None: ...
    def hide(self) -> None: ...


class Pages(dict[int, Page]):
    """The contents of the tabs, each made when it is first asked for: a fresh page shows one of them."""

    def __init__(self, makers: Sequence[Callable[[], Page]]) -> None:
        super().__init__()
        self._makers = makers
        self.places = [W.VBox([], classes="wbp-place") for _ in makers]

    def __missing__(self, place: int) -> Page:
        page = self[place] = self._makers[place]()
        self.places[place].children = (page.widget,)
        return page


def tune_page(bench: Bench) -> Page:
    """Return the tab tune, whose modules are imported when it is first shown."""
    from workbench.apps.panels.tabs.tune import TunePage

    return TunePage(bench)


def history_page(bench: Bench) -> Page:
    """Return the tab history, whose modules are imported when it is first shown."""
    from workbench.apps.panels.tabs.history import HistoryPage

    return HistoryPage(bench)


class Results:
    """Only the selected tab holds anything: a figure drawn out of sight has no size."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.banner, self.row = Banner(bench), ResultRow(bench)
        makers: list[Callable[[], Page]] = [partial(TabPage, bench, tab) for tab in TABS]
        self.pages = Pages([*makers, partial(tune_page, bench), partial(history_page, bench)])
        titles = [*(tab.title for tab in TABS), "tune", "history"]
        self.tabs = W.Tab(self.pages.places, titles=titles, classes="wbp-tabs")
        self._turning = threading.RLock()  # pages tell of a turn in one thread, jobs end in another
        self.questions = Questions(bench, self.row, self.banner.more, self.turn)
        self.widget = W.VBox([self.banner.widget, self.questions.widget, self.row.widget, self.tabs])
        self.tabs.observe(self._turned, names="selected_index")
        self.state.observe(self._changed, names=["result", "parts", "parts_made"])
        self.state.observe(self._begun, names="job")
        self.state.observe(self._made, names="parts_made")
        self.began_in = 0  # the place of the tab in which the last job was started
        self.pages[0].show()

    def turn(self, title: str, kind: str = "") -> None:
        """Select a tab by its title, and in it the first card of a kind of result, if it has one."""
        place = self.titles.index(title)
        self.tabs.selected_index = place
        page = self.pages[place]
        if kind and isinstance(page, TabPage):
            page.turn_to(kind)

    @property
    def titles(self) -> list[str]:
        """The titles of the tabs, without the mark of something new."""
        return [title.removesuffix(MARK) for title in self.tabs.titles]

    def _begun(self, change: dict[str, Any]) -> None:
        if change["old"] is None:
            self.began_in = self.tabs.selected_index or 0

    def _made(self, _: object) -> None:
        """Turn to what was made; mark its tab if somebody went elsewhere meanwhile."""
        kind, titles, now = self.state.made, self.titles, self.tabs.selected_index or 0
        places = [titles.index(title) for title in KINDS.named(kind).tabs if title in titles] if kind else []
        if not places:
            return
        place = now if now in places else places[0]
        if now in (place, self.began_in):
            self.turn(titles[place], kind)
        else:
            self.tabs.set_title(place, titles[place] + MARK)

    def _turned(self, change: dict[str, Any]) -> None:
        if change["new"] is not None:
            self.tabs.set_title(change["new"], self.titles[change["new"]])
        with self._turning:
            for place in (change["old"], change["new"]):
                if place is not None:
                    page = self.pages[place]
                    page.show() if place == change["new"] else page.hide()

    def _changed(self, _: object) -> None:
        with self._turning:
            for page in self.pages.values():
                if isinstance(page, TabPage):
                    page.forget()
            self.pages[self.tabs.selected_index or 0].show()
