"""The run row: buttons to compare, to improve, to tune and to cancel, and a menu of all other results."""

from __future__ import annotations

from functools import partial
from typing import Any

import traitlets as t

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow, shown_in
from workbench.apps.panels.tabs.results import Results
from workbench.apps.panels.tabs.scenarios import TITLE as SCENARIOS
from workbench.core.feature import Offer
from workbench.features.base.registry import KINDS

_FINDINGS = "findings"  # the kind with a button of its own


class Menu(W.PageWidget):
    """A button with a menu of actions in groups: keys move in it, Escape closes it."""

    _esm = W.static("menu.js")

    label = t.Unicode(help="the text of the button").tag(sync=True)
    name = t.Unicode(help="the name of button and menu for screen readers").tag(sync=True)
    groups: t.List[Any] = t.List(help="a name and items for each: key, label, hint").tag(sync=True)
    locked = t.Bool(False, help="whether nothing can be chosen, since something runs").tag(sync=True)


class RunRow:
    """Starts and cancels jobs."""

    def __init__(self, bench: Bench, results: Results) -> None:
        """`results` has the tabs that a button turns to."""
        self.bench, self.state, self.results = bench, bench.state, results
        self.status = W.HTML()
        hint = "Measure all configs side by side and say which is faster"
        self.compare = button("Compare", hint, bench.compare, self.status, classes="")
        self.compare.button_style = "primary"
        hint = (
            "Stop what runs; a comparison keeps what is known after three rounds, else the older result stays"
        )
        self.cancel = button("Cancel", hint, bench.cancel, self.status, classes="")
        self.offers = {offer.name: offer for offer in KINDS.offers}
        findings = self.offers[_FINDINGS]
        self.improve = button(findings.button, findings.hint, partial(bench.run, _FINDINGS), self.status)
        hint = "Search the best config, starting from A: its tab asks for the goal"
        self.tune = button("Tune", hint, partial(results.turn, "tune"), self.status)
        groups = menu_groups(results.titles)
        self.menu = Menu(label="More", name="more results", groups=groups)
        self.menu.on_act = self._make
        self.menu.add_class("wbp-further")
        first = W.HBox([self.compare, self.cancel], classes="wbp-main wbp-moves")
        second = W.HBox([self.improve, self.tune, self.menu], classes="wbp-moves")
        self.widget = W.VBox([first, self.status, second], classes="wbp-run")
        follow(self.state, self._show, "job")

    def _make(self, name: str) -> None:
        """Make a result of a kind, or show the fields that it asks for."""
        with shown_in(self.status):
            if asks(self.offers[name]):
                self.state.scenario = name
                self.results.turn(SCENARIOS)
            else:
                self.bench.run(name)

    def _show(self) -> None:
        view = self.state.job
        self.compare.disabled = self.improve.disabled = self.menu.locked = view is not None
        self.cancel.disabled = view is None or view.cancelling


def asks(offer: Offer) -> bool:
    """Return whether a kind has fields in the tab scenarios."""
    return offer.has_form and offer.tabs[0] == SCENARIOS


def menu_groups(titles: list[str]) -> list[dict[str, Any]]:
    """Return the kinds without a button of their own, by the tab that shows them."""
    groups = []
    for title in titles:
        items = [
            {"key": offer.name, "label": f"{offer.button}{'…' * asks(offer)}", "hint": offer.hint}
            for offer in KINDS.offered(title)
            if offer.tabs[0] == title and offer.name != _FINDINGS
        ]
        if items:
            groups.append({"name": title, "items": items})
    return groups
