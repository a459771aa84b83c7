"""What to try first, while nothing was compared: a sample to open, one experiment for the open model."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.markup import note_html
from workbench.apps.panels.presets import int8_cpu, int8_here
from workbench.apps.panels.state import BenchState
from workbench.core.config import Config
from workbench.core.models.samples import sample_names
from workbench.core.text import one_line

FIRST = ("bert-base", "yolov5s", "gpt2", "digits-conv")  # samples to begin with
_MOST_LETTERS = 40  # of a model's name


class Suggestion:
    """Stands where the verdict will be, until something is compared or the configs are set by hand."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.row = W.HTML(), W.HBox([], classes="wbp-actions")
        self.widget = W.VBox([self.row, self.status], classes="wbp-suggestion")
        follow(self.state, self._show, "model", "result", "a", "b", "more", "job")

    def _show(self) -> None:
        state, begun = self.state, self.state.result is not None or self.state.job is not None
        experiment = None if begun else experiment_for(state)
        if not begun and state.model is None:
            samples = [button(name, f"Open {name}", partial(self.bench.load, name), self.status)
                       for name in FIRST if name in sample_names()]  # fmt: skip
            self.row.children = [W.HTML(note_html("Begin with a sample:")), *samples]
        elif experiment is not None:
            question, b = experiment
            act = button(question, "Set this in B and compare", partial(self._try, b), self.status)
            self.row.children = [W.HTML(note_html("Try first:")), act]
        else:
            self.row.children = ()

    def _try(self, b: Config) -> None:
        self.state.change(b=b)
        self.bench.compare()


def experiment_for(state: BenchState) -> tuple[str, Config] | None:
    """Return a question about the open model and the B that answers it; None once the configs were set."""
    if state.model is None or len(set(state.configs.values())) > 1:
        return None
    name = one_line(state.model.name, _MOST_LETTERS)
    description = state.model.describe()
    if description.quantized is None and not int8_here(state.model, None):
        precision = int8_cpu(state.model).precision
        return f"Does int8 pay on {name}? Compare", state.a.replace(precision=precision)
    if state.a.level is None:
        question = f"What are ORT's graph optimizations worth on {name}? Compare"
        return question, state.a.replace(level="disabled")
    return None
