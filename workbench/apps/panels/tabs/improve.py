"""The mode improve: the proven answer, what was found and tried, and the configs that were searched."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.tabs.findings import FindingsList
from workbench.apps.panels.tabs.searched import SearchedConfigs


class ImprovePage:
    """The answer with the fixes that were tried, the configs of the search, and the findings."""

    def __init__(self, bench: Bench) -> None:
        self.findings, self.searched = FindingsList(bench), SearchedConfigs(bench)
        places = [self.findings.tried, self.searched.widget, self.findings.widget]
        self.widget = W.VBox(places, classes="wbp-page wbp-improve")

    def show(self) -> None:
        """Show what there is now."""
        self.findings.refresh()
        self.searched.show()

    def hide(self) -> None:
        """Take figures and tables out of the page."""
        self.searched.hide()
