"""The line above a result that is about another model or other configs than those that are set now."""

from __future__ import annotations

from datetime import datetime

from workbench.models.samples import sample_names
from workbench.panels import widgets as W
from workbench.panels.bench import Bench
from workbench.panels.handlers import button, follow
from workbench.panels.markup import text
from workbench.panels.request import LABELS
from workbench.panels.state import BenchState

FIELDS = ("model", "a", "b", "more", "dims", "seed", "data", "calibration")  # what a result is about
REPLACING = ("Compare", "Measure longer")  # jobs that end in another verdict


class Stale:
    """Says whose result is on the screen, and brings back what it is about."""

    def __init__(self, bench: Bench, results: W.Widget) -> None:
        self.bench, self.state = bench, bench.state
        self.text, self.status = W.HTML(), W.HTML()
        again, restore = "Measure what is set now", "Set the model and the configs of this result"
        row = W.HBox([
            self.text,
            button("Compare again", again, bench.compare, self.status),
            button("Restore", restore, self._restore, self.status),
        ], classes="wbp-stale-row")  # fmt: skip
        self.row = W.VBox([row, self.status])
        self.widget = W.VBox([self.row, results], classes="wbp-result")
        follow(self.state, self._show, "result", "result_subject", "job", *FIELDS)

    def _restore(self) -> None:
        state, subject, result = self.state, self.state.result_subject, self.state.result
        if subject is None:
            configs = {label: run.config for label, run in zip(LABELS, result.runs, strict=False)}
            state.set_configs(configs if len(configs) > 1 else {**configs, "B": configs["A"]})
            name = result.record.model.name
            if name in sample_names() and (state.model is None or state.model.name != name):
                self.bench.load(name)
            return
        with state.hold_trait_notifications():
            state.model, state.source = subject.model, subject.source
            state.dims, state.seed = subject.dims, subject.seed
            state.data, state.calibration = subject.data, subject.calibration
            state.set_configs(dict(zip(LABELS, (subject.a, subject.b, *subject.more), strict=False)))

    def _show(self) -> None:
        running = "" if self.state.job is None else self.state.job.name
        words = stale_words(self.state)
        self.text.value = f'<div class="wbp-note" role="status">{text(words)}</div>' if words else ""
        W.set_shown(self.row, bool(words) and running != "Compare")
        for name, on in (("wbp-stale", bool(words)), ("wbp-dimmed", running in REPLACING)):
            (self.widget.add_class if on else self.widget.remove_class)(name)


def stale_words(state: BenchState) -> str:
    """Return whose result is on the screen, if that is not what is set now."""
    if state.result is None or is_set(state):
        return ""
    record = state.result.record
    return f"of {record.model.name}, {clock_text(record.created_utc)}, not what is set now"


def is_set(state: BenchState) -> bool:
    """Return whether the result is about the model and the configs that are set now."""
    if state.result_subject is not None:
        return bool(state.result_subject == state.request().subject)
    record = state.result.record  # from the history or a bundle: its inputs may not be known here
    configs = tuple(run.config for run in record.runs)
    same_model = state.model is not None and state.model.name == record.model.name
    return same_model and configs == tuple(state.configs.values())


def clock_text(created_utc: str, now: datetime | None = None) -> str:
    """Return the local time of a moment; its day too, if that is not today."""
    moment = datetime.fromisoformat(created_utc.replace("Z", "+00:00")).astimezone()
    today = (now or datetime.now().astimezone()).date()
    return f"{moment:%H:%M}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M}"
