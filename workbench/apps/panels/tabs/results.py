"""The answer with its five views, and the other modes: improve, explore, results."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

from traitlets import link

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import follow
from workbench.apps.panels.tabs.answer import AnswerPlace
from workbench.apps.panels.tabs.next_steps import make_if_cheap
from workbench.apps.panels.tabs.share import Share
from workbench.apps.panels.tabs.tab import TabPage
from workbench.apps.panels.tabs.views import EXPLORE, OUTPUTS, TIMING, VIEWS
from workbench.core.feature import Place, function_at
from workbench.features.base.registry import KINDS

MARK = " •"  # behind the title of a view with something new
MODES = {"Improve": "improve", "Explore": "explore", "Results": "results"}  # title of a page: the mode
_TITLES = [tab.title for tab in VIEWS]
_PAGES: dict[str, Place] = {  # what makes a page of a bench; those in texts are imported when first shown
    **{tab.title: partial(TabPage, tab=tab) for tab in (*VIEWS, EXPLORE)},
    "Improve": "workbench.apps.panels.tabs.improve:ImprovePage",
    "Results": "workbench.apps.panels.tabs.history:HistoryPage",
}


class Pages(dict[str, Any]):
    """The pages by title, with `widget`, `show()` and `hide()`.

    Each is made when it is first asked for: a fresh screen shows one of them.
    """

    def __init__(self, bench: Bench) -> None:
        super().__init__()
        self._bench = bench
        self.places = {title: W.VBox([], classes="wbp-place") for title in _PAGES}

    def __missing__(self, title: str) -> Any:
        page = self[title] = function_at(_PAGES[title])(self._bench)
        self.places[title].children = (page.widget,)
        return page


class Results:
    """Only the page that is shown holds anything: a figure drawn out of sight has no size."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.pages = Pages(bench)
        self.places = places = self.pages.places
        self.tabs = W.Tab([places[title] for title in _TITLES], titles=_TITLES, classes="wbp-tabs")
        self.wide = W.ToggleButton(
            description="⤢ full width", tooltip="Fold configs and answer for the view",
            classes="wbp-wide-button",
        )  # fmt: skip
        self.views = W.VBox([self.wide, self.tabs], classes="wbp-views")
        self.place, self.sharing = AnswerPlace(bench, self.turn), Share(bench)
        self._turning = threading.RLock()  # pages tell of a turn in one thread, jobs end in another
        self.shown = self.began_in = _TITLES[0]  # the page on the screen, that in which a job was started
        self.kept_outputs = False  # whether a kept answer turned to its outputs, and nobody turned since
        self.pages[self.shown].show()
        link((self.state, "wide"), (self.wide, "value"))
        follow(self.state, self._fold, "wide")
        self.tabs.observe(self._turned, names="selected_index")
        self.state.observe(self._turned, names="mode")
        self.state.observe(self._answered, names="answer")
        self.state.observe(self._begun, names="job")
        self.state.observe(self._made, names="made")

    def turn(self, title: str, kind: str = "") -> None:
        """Show a view or a mode by its title, and in it a kind of result."""
        if title not in MODES:
            self.tabs.selected_index = _TITLES.index(title)
        self.state.mode = MODES.get(title, "compare")
        page = self.pages[title]
        if kind and isinstance(page, TabPage):
            page.turn_to(kind)

    def step(self, by: int) -> None:
        """Turn to a neighbour of the view that is shown."""
        self.tabs.selected_index = ((self.tabs.selected_index or 0) + by) % len(VIEWS)

    @property
    def current(self) -> str:
        """The title of what the screen should show."""
        mode = next((title for title, mode in MODES.items() if mode == self.state.mode), None)
        return mode or _TITLES[self.tabs.selected_index or 0]

    def _fold(self) -> None:
        """Fold the answer where a view needs the room; it stays so, since no run may move what is shown."""
        page, state = self.pages[self.shown], self.state
        roomy = isinstance(page, TabPage) and page.tab.needs_room
        fills = roomy and (page.cards or state.model is not None)
        self.place.fold(self.shown if fills or state.wide else "")

    def _begun(self, change: dict[str, Any]) -> None:
        if change["old"] is None:
            self.began_in = self.shown

    def _made(self, _: object) -> None:
        """Turn to what was made; mark its view if somebody went elsewhere meanwhile."""
        self._changed()
        kind = self.state.made[-1]
        if not kind or not self.state.has_part(kind):  # else it is about something that is no longer set
            return
        titles = KINDS.offer(kind).tabs
        title = self.shown if self.shown in titles else titles[0]
        if self.shown in (title, self.began_in):
            self.turn(title, kind)
        elif title not in MODES:
            self.tabs.set_title(_TITLES.index(title), title + MARK)

    def _answered(self, change: dict[str, Any]) -> None:
        """Show another answer: the outputs where precisions differ, evaluated if just measured."""
        before, answer = change["old"], change["new"]
        if (before.result, before.parts) == (answer.result, answer.parts):
            return  # its model was opened
        self._changed()
        result = answer.result
        if result is None and self.kept_outputs:
            self.turn(TIMING.title)
        if result is None or result is before.result:
            return
        if self.shown != TIMING.title or not result.agreement:
            return
        if len({run.config.precision for run in result.runs}) > 1 and self.state.job is None:
            self.turn(OUTPUTS.title)
            self.kept_outputs = not self.state.answer.code
            if self.state.answer.code:
                make_if_cheap(self.bench, "judges outputs")

    def _turned(self, _: object = None) -> None:
        with self._turning:
            before, self.shown = self.shown, self.current
            if before == self.shown:
                return
            self.kept_outputs = False
            if self.shown not in MODES:
                self.tabs.set_title(_TITLES.index(self.shown), self.shown)
            self.pages[before].hide()
            page = self.pages[self.shown]
            page.show()
            self._fold()
        if isinstance(page, TabPage):
            make_if_cheap(self.bench, page.tab.opens_with)

    def _changed(self) -> None:
        with self._turning:
            for page in self.pages.values():
                if isinstance(page, TabPage):
                    page.fresh = False
            self.pages[self.shown].show()
