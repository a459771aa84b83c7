"""All panels in their places: the model on top, the configs on the left, the results on the right."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.configure import Configure
from workbench.apps.panels.folded import Folded
from workbench.apps.panels.live import Live
from workbench.apps.panels.markup import bug_html
from workbench.apps.panels.model_row import ModelRow
from workbench.apps.panels.run_row import RunRow
from workbench.apps.panels.suggestion import Suggestion
from workbench.apps.panels.tabs.results import Results
from workbench.drawing.page.banner import VERDICT_STYLE as VERDICT

# JupyterLab's own colours, readable in its light and dark themes
STYLE = f"<style>{W.static('panels.css')}\n{VERDICT}</style>"


class Layout:
    """Makes the panels and holds them."""

    def __init__(self, bench: Bench) -> None:
        self.results = Results(bench)
        self.model_row = ModelRow(bench, self.results.row.buttons["Copy as Python"])
        self.run_row = RunRow(bench, self.results)
        self.configure = Configure(bench, self.run_row.widget)
        self.bug = W.HTML()
        bench.state.observe(self._show_bug, names="bug")
        self.live, self.folded = Live(bench), Folded(bench, self.results.widget)
        self.suggestion = Suggestion(bench)
        right = W.VBox([self.live.widget, self.suggestion.widget, self.folded.widget])
        body = W.HBox([self.configure.widget, right], classes="wbp-body")
        bridge = bench.page.bridge
        self.root = W.VBox([W.HTML(STYLE), self.model_row.widget, body, self.bug, bridge], classes="wbp")
        bench.page.root = self.root.model_id

    def _show_bug(self, change: dict[str, str]) -> None:
        self.bug.value = bug_html(change["new"]) if change["new"] else ""
