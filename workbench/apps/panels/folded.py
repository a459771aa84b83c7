"""The line above the results: the answer that is folded, or what is not here of the one on the screen."""

from __future__ import annotations

from datetime import datetime

from workbench.apps.panels import widgets as W
from workbench.apps.panels.answers import Answer
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.markup import text
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import one_line

_MOST_LETTERS = 60  # of a config, and of a model's name
REPLACING = ("Compare", "Measure longer")  # jobs that end in another verdict


class Folded:
    """Says which answer is folded, and brings it back with its model and its configs."""

    def __init__(self, bench: Bench, results: W.Widget) -> None:
        self.bench, self.state = bench, bench.state
        self.text, self.status = W.HTML(), W.HTML()
        self.show = button(
            "show", "Set its model and its configs again, and show it", self._bring_back, self.status
        )
        row = W.HBox([self.text, self.show], classes="wbp-folded-row")
        self.row = W.VBox([row, self.status])
        self.widget = W.VBox([self.row, results], classes="wbp-result")
        follow(self.state, self._show, "result", "parts", "folded", "preview", "job")

    def _bring_back(self) -> None:
        answer = self.state.folded[-1]
        if answer.subject is None:
            self.bench.show(answer.result)
        else:
            self.state.set_subject(answer)

    def _show(self) -> None:
        running = "" if self.state.job is None else self.state.job.name
        last, note = last_words(self.state), missing_words(self.state)
        words = note or last
        self.text.value = f'<div class="wbp-note" role="status">{text(words)}</div>' if words else ""
        W.set_shown(self.show, bool(last))
        W.set_shown(self.row, bool(words) and running != "Compare")
        (self.widget.add_class if running in REPLACING else self.widget.remove_class)("wbp-dimmed")


def last_words(state: BenchState) -> str:
    """Return the answer that was folded last in one line, while there is none of what is set."""
    if not state.folded or state.result is not None or state.parts:
        return ""
    return f"last: {answer_in_words(state.folded[-1])}"


def answer_in_words(answer: Answer) -> str:
    """Return an answer in one line: "bert-base, int8: 3.2× faster, 06:31"."""
    if answer.result is None:
        model = None if answer.subject is None else answer.subject.model
        kinds = dict.fromkeys(name.partition("/")[0] for name in answer.parts)
        return ", ".join([*([one_line(model.name, _MOST_LETTERS)] if model is not None else []), *kinds])
    record = answer.result.record
    words = [one_line(record.model.name, _MOST_LETTERS), verdict_in_words(record)]
    return ", ".join([*words, clock_text(record.created_utc)])


def verdict_in_words(record: ComparisonRecord) -> str:
    """Return the first candidate with its verdict, in a few words."""
    if not record.verdicts:
        return "measured"
    verdict = record.verdicts[0]
    config = next(run.config for run in record.runs if run.label == verdict.label)
    kind_words = speed_in_words(verdict) or {"unknown": "not settled"}.get(verdict.kind, verdict.kind)
    return f"{one_line(config_in_words(config), _MOST_LETTERS)}: {kind_words}"


def missing_words(state: BenchState) -> str:
    """Return what of the answer on the screen is not here: its model, or the inputs that were given."""
    if state.result is None:
        return ""
    record = state.result.record
    name, inputs = one_line(record.model.name, _MOST_LETTERS), record.inputs
    if state.model is None:
        return f"This is of {name}, {clock_text(record.created_utc)}. Its model is not open here."
    set_now = state.preview
    if set_now is None or not set_now.shapes:
        return ""
    if (set_now.made_by, set_now.shapes) == (inputs.made_by, inputs.shapes):
        return ""
    return f"This was measured on {one_line(inputs.made_by, _MOST_LETTERS)}; other inputs are set now."


def clock_text(created_utc: str, now: datetime | None = None) -> str:
    """Return the local time of a moment; its day too, if that is not today."""
    moment = datetime.fromisoformat(created_utc.replace("Z", "+00:00")).astimezone()
    today = (now or datetime.now().astimezone()).date()
    return f"{moment:%H:%M}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M}"
