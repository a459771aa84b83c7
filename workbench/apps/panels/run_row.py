"""The place of Compare: the button that starts it, and stops whatever runs, with how long it takes."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.markup import note_html
from workbench.apps.panels.state import BenchState

COMPARE, STOP = "Compare", "Stop here"
_HINTS = {
    COMPARE: "Measure all configs side by side and say which is faster",
    STOP: "Stop what runs; a comparison keeps what is known after three rounds, else the older result stays",
}


class RunRow:
    """Starts a comparison and stops any job, in one place and of one size."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.time = W.HTML(), W.HTML()
        self.press = button(COMPARE, _HINTS[COMPARE], self._pressed, self.status, classes="wbp-compare")
        self.press.button_style = "primary"
        self.widget = W.VBox([self.press, self.time, self.status], classes="wbp-run")
        follow(self.state, self._show, "job", "budget_s", "b", "more")

    def _pressed(self) -> None:
        if self.state.job is None:
            self.bench.compare()
        else:
            self.bench.cancel()

    def _show(self) -> None:
        job = self.state.job
        name = COMPARE if job is None else STOP
        self.press.description, self.press.tooltip = name, _HINTS[name]
        self.press.disabled = job is not None and job.cancelling
        self.time.value = note_html(time_in_words(self.state) if job is None else "keeps what is known")


def time_in_words(state: BenchState) -> str:
    """Return how long a comparison takes, as far as it is known before."""
    return "about 10 s or more" if state.budget_s is None else f"at most {state.budget_s:g} s"
