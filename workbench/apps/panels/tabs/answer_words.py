"""The texts of the answer: the verdict and why, what runs, how to begin, and what was folded."""

from __future__ import annotations

import workbench as wb
from workbench.apps.panels.answers import Answer
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.markup import error_html
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.entries import clock_text
from workbench.core.errors import Cancelled
from workbench.core.measure.bar import in_words
from workbench.core.measure.limits import Progress
from workbench.core.measure.wording import in_short
from workbench.core.text import one_line
from workbench.drawing.markup import bar_html, note_html, text
from workbench.drawing.page.banner import measuring_html, unanswered_html, unmeasured_html, verdict_html
from workbench.features.base.registry import KINDS
from workbench.features.compare.reason import what_differs

_MOST_LETTERS = 60  # of a model's name, of a config
_MOST_OF_ERROR = 160  # letters of an error in the folded line
REPLACING = ("Compare", "Measure longer")  # jobs that end in another verdict


def words_html(state: BenchState) -> str:
    """Return the answer, a comparison that runs, why the last run gave none, or how to begin."""
    if state.job is not None and state.job.name in REPLACING:
        return running_html(state.job)
    if (result := state.result) is not None:
        return verdict_html(result.record, shares=result.time_elsewhere())
    if state.run_error is not None and not isinstance(state.run_error, Cancelled):
        return unanswered_html(
            "failed", "The run gave no answer", error_html(state.run_error), style="v-error"
        )
    kept = kept_words(state)
    steps = "Press" if kept else "Change something in B, and press"
    if state.model is None:
        steps = "Pick a model, change something in B, and press"
    lines = f"{steps} <b>Compare</b>: both configs are measured in turns, and the answer stands here."
    return unmeasured_html(f"{lines}<div>{text(kept)}</div>" if kept else lines)


def kept_words(state: BenchState) -> str:
    """Return what B is where it differs from A; after another model was opened, B keeps it."""
    a, b, last = state.configs["A"], state.configs["B"], last_answer(state)
    if a == b or state.model is None:
        return ""
    is_other = last is not None and last.subject is not None and last.subject.model is not state.model
    return f"B {'keeps' if is_other else 'has'}: {one_line(config_in_words(b), _MOST_LETTERS)}."


def running_html(view: JobView) -> str:
    """Return how far a comparison is: the ratio so far on the scale, the step, and what is known."""
    return measuring_html(progress_of(view), progress_html(view, step_words(view)))


def said(state: BenchState) -> tuple[str, str, str]:
    """Return the answer in one line, what stands below it, and which view says more, or "show" a folded one.

    Below it is what runs or went wrong, else why the answer is so.
    """
    job, result, error, last = state.job, state.result, state.run_error, last_words(state)
    if job is not None:
        replaces = job.name in REPLACING
        return (step_words(job), "", "") if replaces else (doing_words(job), progress_html(job), "")
    line, why, more = (last, note_html(last), "show") if last else ("No answer yet", "", "")
    if result is not None:
        line = in_short(result.record)
    if error is not None:
        line = f"No result: {one_line(str(error), _MOST_OF_ERROR)}"
    if error is not None and (result is not None or isinstance(error, Cancelled)):
        why = f"{error_html(error)}{why}"
    elif result is not None:
        reason, view = why_html(state, result)
        why, more = f"{reason}{why}", more or view
    return line, why, more


def why_html(state: BenchState, result: wb.Comparison) -> tuple[str, str]:
    """Return why the answer is so, or what differs in the configs, and the view that shows the reason."""
    reason, stopped = result.reason, result.record.stopped
    words = reason.words if reason else what_differs(result)
    notes = [f"{stopped[0].upper()}{stopped[1:]}." if stopped else "", missing_words(state)]
    because = f"<b>{'Why' if reason else 'What differs'}:</b> {text(words)}" if words else ""
    line = f'<div class="wbp-say" role="status">{text(" ".join(notes))} {because}</div>'
    return line, KINDS.offer(reason.kind).tabs[0] if reason else ""


def progress_of(view: JobView) -> Progress:
    """Return how far a job is; without a round and an end while those are not known."""
    return view.progress or Progress(view.doing, 0, view.elapsed_s, 0.0, None, None)


def step_words(view: JobView) -> str:
    """Return which step runs, with its time: "Compare, step 2 of 2: sampling · 4 s, about 6 s left"."""
    progress, doing = progress_of(view), "stopping" if view.cancelling else view.doing
    name = ", ".join(filter(None, (view.name, progress.step)))
    words = f"{name}: {doing} · {view.elapsed_s:.0f} s"
    left_s = progress.remaining_s
    return words if left_s is None or view.cancelling else f"{words}, about {left_s:.0f} s left"


def doing_words(view: JobView) -> str:
    """Return what a job does whose result stands in a view, with its time."""
    doing = "stopping" if view.cancelling else in_words(progress_of(view))
    return f"{view.name}: {doing} · {view.elapsed_s:.0f} s"


def progress_html(view: JobView, words: str = "") -> str:
    """Return what a job does, with a bar."""
    return bar_html(words or doing_words(view), progress_of(view).fraction)


def last_answer(state: BenchState) -> Answer | None:
    """Return the answer that was folded last, while what is set has none, or its comparison failed."""
    result = state.result
    if state.parts if result is None else not result.record.has_failed:
        return None
    answers = (item for item in reversed(state.folded) if not (item.result and item.result.record.has_failed))
    return next(answers, None)


def last_words(state: BenchState) -> str:
    """Return that answer in one line; empty where there is none."""
    answer = last_answer(state)
    return "" if answer is None else f"last: {answer_in_words(answer)}"


def answer_in_words(answer: Answer) -> str:
    """Return an answer in one line: "bert-base, int8: 3.2× faster, 06:31"."""
    if answer.result is None:
        model = None if answer.subject is None else answer.subject.model
        kinds = dict.fromkeys(name.partition("/")[0] for name in answer.parts)
        return ", ".join([*([one_line(model.name, _MOST_LETTERS)] if model is not None else []), *kinds])
    record = answer.result.record
    words = [one_line(record.model.name, _MOST_LETTERS), in_short(record)]
    return ", ".join([*words, clock_text(record.created_utc)])


def missing_words(state: BenchState) -> str:
    """Return what of the answer on the screen is not here: its model, or the inputs that were given."""
    if state.result is None:
        return ""
    record, set_now = state.result.record, state.preview
    name, made_by = (one_line(words, _MOST_LETTERS) for words in (record.model.name, record.inputs.made_by))
    if state.model is None:
        return f"This is of {name}, {clock_text(record.created_utc)}. Its model is not open here."
    known = set_now is not None and set_now.shapes
    if known and (set_now.made_by, set_now.shapes) != (record.inputs.made_by, record.inputs.shapes):
        return f"This was measured on {made_by}; other inputs are set now."
    return ""
