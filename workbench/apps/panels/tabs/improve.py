"""The mode improve: the proven answer, what was found and tried, and the search for more, on one page."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.tabs.findings import FindingsList
from workbench.apps.panels.tabs.tune import TunePage


class ImprovePage:
    """Findings and what came of them above, the search around the best below."""

    def __init__(self, bench: Bench) -> None:
        self.findings, self.tune = FindingsList(bench), TunePage(bench)
        further = W.HTML('<div class="c-title"><b>Search further</b></div>', classes="wbp-heading")
        self.widget = W.VBox(
            [self.findings.widget, further, self.tune.widget], classes="wbp-page wbp-improve"
        )

    def show(self) -> None:
        """Show what there is now."""
        self.findings.refresh()
        self.tune.show()

    def hide(self) -> None:
        """Take figures and tables out of the page."""
        self.tune.hide()
