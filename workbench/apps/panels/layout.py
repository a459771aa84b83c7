"""All panels in their places: the model on top, the configs on the left, the results on the right."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.configure import Configure
from workbench.apps.panels.handlers import follow
from workbench.apps.panels.markup import bug_html
from workbench.apps.panels.model_row import ModelRow
from workbench.apps.panels.run_row import RunRow
from workbench.apps.panels.tabs.results import MODES, Results
from workbench.drawing.page.banner import VERDICT_STYLE as VERDICT

# JupyterLab's own colours, readable in its light and dark themes
STYLE = f"<style>{W.static('panels.css')}\n{VERDICT}</style>"


class Layout:
    """Makes the panels and holds them."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.results = Results(bench)
        self.modes = W.ToggleButtons(options=[("Compare", "compare"), *MODES.items()], classes="wbp-pills")
        self.modes.observe(lambda change: setattr(self.state, "mode", change["new"]), names="value")
        self.model_row = ModelRow(bench, self.modes, self.results.share)
        self.run_row = RunRow(bench)
        self.configure = Configure(bench, self.run_row.widget)
        self.bug = W.HTML()
        bench.state.observe(self._show_bug, names="bug")
        self.right = W.VBox([])
        follow(self.state, self._place, "mode")
        body = W.HBox([self.configure.widget, self.right], classes="wbp-body")
        bridge = bench.page.bridge
        rows = [self.model_row.widget, self.results.shared, body]
        self.root = W.VBox([W.HTML(STYLE), *rows, self.bug, bridge], classes="wbp")
        bench.page.root = self.root.model_id

    def _place(self) -> None:
        results, mode = self.results, self.state.mode
        self.modes.value = mode
        shown = {"improve": results.improve, "explore": results.explore, "results": results.history}
        self.right.children = [shown[mode]] if mode in shown else [results.answer, results.views]

    def _show_bug(self, change: dict[str, str]) -> None:
        self.bug.value = bug_html(change["new"]) if change["new"] else ""
