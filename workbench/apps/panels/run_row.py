"""The run row: compare, and cancel what runs."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow


class RunRow:
    """Starts and cancels jobs."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.status = W.HTML()
        hint = "Measure all configs side by side and say which is faster"
        self.compare = button("Compare", hint, bench.compare, self.status, classes="")
        self.compare.button_style = "primary"
        hint = (
            "Stop what runs; a comparison keeps what is known after three rounds, else the older result stays"
        )
        self.cancel = button("Cancel", hint, bench.cancel, self.status, classes="")
        first = W.HBox([self.compare, self.cancel], classes="wbp-main wbp-moves")
        self.widget = W.VBox([first, self.status], classes="wbp-run")
        follow(self.state, self._show, "job")

    def _show(self) -> None:
        view = self.state.job
        self.compare.disabled = view is not None
        self.cancel.disabled = view is None or view.cancelling
