"""The texts of the answer: the verdict and why, what runs, how to begin, and what was folded."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, repeat
from statistics import median
from typing import TYPE_CHECKING

from workbench.apps.panels.answers import Answer
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.markup import error_html
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.entries import clock_text
from workbench.core.errors import Cancelled
from workbench.core.measure.bar import in_words
from workbench.core.measure.limits import Progress
from workbench.core.measure.wording import in_short
from workbench.core.text import in_digits, one_line
from workbench.drawing.markup import note_html, text
from workbench.drawing.page.banner import axis_html, hero_html, tiles_html, verdict_html
from workbench.drawing.verdict_picture import ABSENT, TAIL, Tile, axis_of, speed_so_far

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison

_MOST_LETTERS = 60  # of a model's name
_MOST_OF_ERROR = 160  # letters of an error in the folded line
_NAMES = ("median", TAIL, "memory", "time to load", "file")  # of the tiles
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
    steps = "Change something in B, and press" if state.configs["A"] == state.configs["B"] else "Press"
    if state.model is None:
        steps = "Pick a model, change something in B, and press"
    lines = f"{steps} <b>Compare</b>: both configs are measured in turns, and the answer stands here."
    return unanswered_html(
        "empty", "Which is faster?", lines, axis_html(None, "none"), ["A → B"] * len(_NAMES)
    )


def unanswered_html(
    state: str, head: str, lines: str, axis: str = "", values: Sequence[str] = (), style: str = "v-quiet"
) -> str:
    """Return what stands in place of a verdict: a headline with its lines, the scale and the tiles."""
    hero = hero_html(f'<b class="v-head {style}">{text(head)}</b>', lines, axis)
    tiles = tiles_html(map(Tile, _NAMES, chain(values, repeat(ABSENT))))
    return f'<div class="wbp-verdict" data-state="{state}" role="status">{hero}{tiles}</div>'


def running_html(view: JobView) -> str:
    """Return how far a comparison is: the ratio so far on the scale, the step, and what is known."""
    progress = progress_of(view)
    judged = (item for item in progress.verdicts if item.kind != "outputs differ" and item.ratio is not None)
    verdict, samples = next(judged, None), dict(progress.samples)
    axis = None if verdict is None else axis_of(verdict)
    head = ("" if verdict is None else speed_so_far(verdict)) or "Measuring…"
    labels = [*samples][:2] if verdict is None else [*[*samples][:1], verdict.label]
    medians = [median(samples[label]) * 1e3 for label in labels if samples.get(label)]
    known = [f"{' → '.join(in_digits(value, 3) for value in medians)} ms"] if len(medians) == 2 else []
    lines = progress_html(view, step_words(view))
    return unanswered_html("running", head, lines, axis_html(axis, "none"), known)


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
        why = error_html(error)
    elif result is not None:
        why, more = why_html(state, result)
    return line, why, more


def why_html(state: BenchState, result: Comparison) -> tuple[str, str]:
    """Return why the answer is so, or what differs in the configs, and the view that shows the reason."""
    stopped, (before, after) = result.record.stopped, result.runs[:2]
    head, words, view = "Why", result.why, ""
    if words:
        slower = any(part.kind == "why slower" for part in result.parts)
        view = "Where time goes" if slower else "What ORT did"
    elif before.failure is None and after.failure is None:  # else the answer has the reason
        changes = before.config.diff(after.config).changes
        head, words = "What differs", ", ".join(map(str, changes)) or "nothing, both configs are the same"
    notes = [f"{stopped[0].upper()}{stopped[1:]}." if stopped else "", missing_words(state)]
    reason = f"<b>{head}:</b> {text(words)}" if words else ""
    return f'<div class="wbp-say" role="status">{text(" ".join(notes))} {reason}</div>', view


def progress_of(view: JobView) -> Progress:
    """Return how far a job is; without a round and an end while those are not known."""
    return view.progress or Progress(view.doing, 0, view.elapsed_s, 0.0, None, None)


def step_words(view: JobView) -> str:
    """Return which step runs and about how long it takes: "step 2 of 2: measuring · 4 s, about 6 s left"."""
    progress, doing = progress_of(view), "stopping" if view.cancelling else view.doing
    words = f"{view.name}, step {2 if progress.round else 1} of 2: {doing} · {view.elapsed_s:.0f} s"
    left_s = progress.remaining_s
    return words if left_s is None or view.cancelling else f"{words}, about {left_s:.0f} s left"


def doing_words(view: JobView) -> str:
    """Return what a job does whose result stands in a view, with its time."""
    doing = "stopping" if view.cancelling else in_words(progress_of(view))
    return f"{view.name}: {doing} · {view.elapsed_s:.0f} s"


def progress_html(view: JobView, words: str = "") -> str:
    """Return what a job does, with a bar: one without an end if nobody knows it."""
    share = progress_of(view).fraction
    value = "" if share is None else f'value="{share:.3f}"'
    return (
        f'<div class="wbp-doing">{text(words or doing_words(view))}</div>'
        f'<progress class="wbp-progress" max="1" {value} aria-label="progress"></progress>'
    )


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
