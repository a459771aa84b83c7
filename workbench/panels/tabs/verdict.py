"""The banner: the verdict as a picture, and why the last run gave none."""

from __future__ import annotations

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import button
from workbench.panels.markup import error_html
from workbench.report.banner import verdict_html

EMPTY = (
    '<div class="wbp-verdict wbp-empty">Pick a model, change something in B, and press <b>Compare</b>: '
    "both configs are measured in turns, and the verdict stands here.</div>"
)


class Banner:
    """Shows the verdict of the comparison on the screen, and why the last run gave none.

    The button `more` stands in the line of the next questions.
    """

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.verdict, self.error, self.status = W.HTML(), W.HTML(), W.HTML()
        hint = "Measure further rounds; the earlier ones are kept"
        self.more = button("Measure longer", hint, bench.measure_more, self.status)
        self.widget = W.VBox([self.error, self.verdict, self.status])
        self.state.observe(self._show, names=["result", "run_error"])
        self.state.observe(self._lock, names=["result", "job"])
        self._show()
        self._lock()

    def _show(self, _: object = None) -> None:
        state = self.state
        self.error.value = error_html(state.run_error) if state.run_error else ""
        self.verdict.value = verdict_html(state.result.record) if state.result else EMPTY

    def _lock(self, _: object = None) -> None:
        self.more.layout.display = None if self.state.result else "none"
        self.more.disabled = self.state.job is not None
