"""The place of Compare: the button that starts it, and stops whatever runs, with how long it takes."""

from __future__ import annotations

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.markup import note_html
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.steps import rounded

COMPARE, STOP = "Compare", "Stop here"
_HINTS = {
    COMPARE: "Measure all configs side by side and say which is faster",
    STOP: "Stop what runs; a comparison keeps what is known after three rounds, else the older result stays",
}
# Before anything of a model was measured, its weights are read from the disk once, from memory in each run.
LOADED_BYTES_PER_S, READ_BYTES_PER_S = 0.5e9, 5e9
START_S, SAMPLED_S, LEAST_RUNS = 0.5, 0.65, 8  # of a config in a round: its process, its runs


class RunRow:
    """Starts a comparison and stops any job, in one place and of one size."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.time = W.HTML(), W.HTML()
        self.press = button(COMPARE, _HINTS[COMPARE], self._pressed, self.status, classes="wbp-compare")
        self.press.button_style = "primary"
        self.widget = W.VBox([self.press, self.time, self.status], classes="wbp-run")
        follow(self.state, self._show, "job", "budget_s", "model", "more", "result", "took_s")

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
    if state.budget_s is not None:
        return f"at most {state.budget_s:g} s"
    if state.model is None:
        return ""
    took_s = state.took(COMPARE)
    return f"about {rounded(expected_s(state) if took_s is None else took_s)}"


def expected_s(state: BenchState) -> float:
    """Return the default budget of a comparison, from what was measured of the model, else from its size."""
    from workbench.core.measure.compare_request import default_budget_s  # loads NumPy

    size_bytes, runs = state.model.describe().size_bytes, () if state.result is None else state.result.runs
    loads_s = [run.load_s for run in runs if run.load_s is not None]
    medians_s = [run.latency.median_s for run in runs if run.latency.median_s is not None]
    load_s = max(loads_s, default=size_bytes / LOADED_BYTES_PER_S)
    run_s = max(medians_s, default=size_bytes / READ_BYTES_PER_S)
    sampled_s = max(SAMPLED_S, LEAST_RUNS * run_s)
    return default_budget_s(run_s, len(state.configs) * (START_S + load_s + sampled_s))
