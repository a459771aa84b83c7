"""The texts of the answer: while something runs, before anything was compared, and what was folded."""

from __future__ import annotations

from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING

from workbench.apps.panels.answers import Answer
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.markup import error_html
from workbench.apps.panels.state import BenchState
from workbench.core.bundle.display import config_in_words
from workbench.core.measure.bar import in_words
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import in_digits, one_line
from workbench.drawing.markup import text
from workbench.drawing.page.banner import axis_html, tiles_html
from workbench.drawing.verdict_picture import ABSENT, TAIL, Tile, axis_of, speed_so_far

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import ComparisonRecord, Verdict

_MOST_LETTERS = 60  # of a config, and of a model's name
_NAMES = ("median", TAIL, "memory", "time to load", "file")  # of the tiles
REPLACING = ("Compare", "Measure longer")  # jobs that end in another verdict


def hero_html(kind: str, head: str, lines: str, tiles: list[Tile], axis: str, style: str = "") -> str:
    """Return a headline with its lines, the scale beside it and the tiles, as a verdict has them."""
    words = f'<b class="v-head {style}">{text(head)}</b><div class="v-lines">{lines}</div>'
    return (
        f'<div class="wbp-verdict" data-state="{kind}" role="status"><div class="v-hero">'
        f'<div class="v-words">{words}</div>{axis}</div>{tiles_html(tiles)}</div>'
    )


def empty_html(state: BenchState) -> str:
    """Return what to do next, in the place of a verdict."""
    steps = "Pick a model, change something in B, and press" if state.model is None else "Press"
    if state.model is not None and state.a == state.b:
        steps = "Change something in B, and press"
    lines = f"{steps} <b>Compare</b>: both configs are measured in turns, and the answer stands here."
    tiles = [Tile(name, "A → B") for name in _NAMES]
    return hero_html("empty", "Which is faster?", lines, tiles, axis_html(None, "none"), "v-quiet")


def failed_html(name: str, error: Exception) -> str:
    """Return why a run gave nothing, in the place of a verdict."""
    tiles = [Tile(name, ABSENT) for name in _NAMES]
    return hero_html("failed", f"{name} gave no answer", error_html(error), tiles, "", "v-error")


def running_html(view: JobView) -> str:
    """Return how far a comparison is: the ratio so far on the scale, the step, and what is known."""
    verdict = provisional(view)
    axis = None if verdict is None else axis_of(verdict)
    head = ("" if verdict is None else speed_so_far(verdict)) or "Measuring…"
    lines = progress_html(view, step_words(view))
    samples = dict(view.progress.samples) if view.progress is not None else {}
    labels = [*samples][:2] if verdict is None else [*[*samples][:1], verdict.label]
    medians = [median(samples[label]) * 1e3 for label in labels if samples.get(label)]
    known = f"{' → '.join(in_digits(value, 3) for value in medians)} ms" if len(medians) == 2 else ABSENT
    tiles = [Tile(_NAMES[0], known), *(Tile(name, ABSENT) for name in _NAMES[1:])]
    return hero_html("running", head, lines, tiles, axis_html(axis, "none"), "v-quiet")


def provisional(view: JobView) -> Verdict | None:
    """Return the verdict so far about the first candidate whose outputs agree."""
    verdicts = () if view.progress is None else view.progress.verdicts
    return next((item for item in verdicts if item.kind != "outputs differ" and item.ratio is not None), None)


def step_words(view: JobView) -> str:
    """Return which step runs and about how long it takes: "step 2 of 2: measuring · 4 s, about 6 s left"."""
    progress, doing = view.progress, "stopping" if view.cancelling else view.doing
    step = 1 if progress is None or not progress.round else 2
    words = f"{view.name}, step {step} of 2: {doing} · {view.elapsed_s:.0f} s"
    left_s = None if progress is None else progress.remaining_s
    return words if left_s is None or view.cancelling else f"{words}, about {left_s:.0f} s left"


def doing_words(view: JobView) -> str:
    """Return what a job does whose result stands in a view, with its time."""
    doing = view.doing if view.progress is None else in_words(view.progress)
    return f"{view.name}: {'stopping' if view.cancelling else doing} · {view.elapsed_s:.0f} s"


def progress_html(view: JobView, words: str = "") -> str:
    """Return what a job does, with a bar: one without an end if nobody knows it."""
    share = None if view.progress is None else view.progress.fraction
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
    words = [one_line(record.model.name, _MOST_LETTERS), verdict_in_words(record)]
    return ", ".join([*words, clock_text(record.created_utc)])


def verdict_in_words(record: ComparisonRecord) -> str:
    """Return the first candidate with its verdict, in a few words."""
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
    moment = datetime.fromisoformat(created_utc).astimezone()
    today = (now or datetime.now().astimezone()).date()
    return f"{moment:%H:%M}" if moment.date() == today else f"{moment:%Y-%m-%d %H:%M}"
