"""The place of Compare: the button that starts it, and stops whatever runs, with how long it takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.tabs.answer_words import REPLACING
from workbench.apps.panels.tabs.next_steps import compare_time
from workbench.drawing.markup import note_html

COMPARE, STOP = "Compare", "Stop here"
_HINT = "Measure all configs side by side and say which is faster"
_STOPS = "Stop what runs; a comparison keeps what is known after three rounds, else the older result stays"


def start_button(bench: Bench, name: str, hint: str, start: Callable[[], object], status: W.HTML) -> W.Button:
    """Return the one button of a mode, which starts its run and stops whatever runs."""
    state = bench.state
    made = button(name, hint, lambda: bench.cancel() if state.job else start(), status, classes="wbp-compare")
    made.button_style = "primary"

    def show() -> None:
        job = state.job
        made.description, made.tooltip = (name, hint) if job is None else (STOP, _STOPS)
        made.disabled = job is not None and job.cancelling

    follow(state, show, "job")
    return made


class RunRow:
    """Starts a comparison, and says how long it takes."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.time = W.HTML(), W.HTML()
        self.press = start_button(bench, COMPARE, _HINT, bench.compare, self.status)
        self.widget = W.VBox([self.press, self.time, self.status], classes="wbp-run")
        self.state.observe(self._forget_times, names=["budget_s", "configs"])
        follow(self.state, self._show, "job", "budget_s", "model", "configs", "answer", "took_s")

    def _forget_times(self, change: dict[str, Any]) -> None:
        """Forget how long runs took, which was with another budget or with fewer or more configs."""
        if change["name"] == "budget_s" or len(change["old"]) != len(change["new"]):
            self.state.took_s = {}

    def _show(self) -> None:
        job, kept = self.state.job, ("older results stay", "keeps what is known")
        self.time.value = note_html(compare_time(self.state) if job is None else kept[job.name in REPLACING])
