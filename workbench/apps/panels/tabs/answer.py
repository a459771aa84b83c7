"""The answer, always in one place and of one height: what was found, why, and what to do next."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.markup import error_html
from workbench.apps.panels.tabs.answer_words import (
    REPLACING,
    doing_words,
    empty_html,
    failed_html,
    last_words,
    missing_words,
    progress_html,
    running_html,
    step_words,
    verdict_in_words,
)
from workbench.apps.panels.tabs.next_steps import Turn, next_steps, view_steps
from workbench.core.errors import Cancelled
from workbench.core.text import one_line
from workbench.drawing.markup import note_html, text
from workbench.drawing.page.banner import verdict_html

if TYPE_CHECKING:
    from workbench.features.compare.result import Comparison

MOST_LETTERS = 160  # of an error in the folded line
STATE = ("result", "parts", "parts_made", "run_error", "model", "a", "b", "more", "folded", "preview",
         "budget_s")  # fmt: skip


class AnswerPlace:
    """Shows the comparison on the screen, a running one, why the last run gave none, or how to begin."""

    def __init__(self, bench: Bench, turn: Turn) -> None:
        """`turn` selects a view by its title, and in it a kind of result."""
        self.bench, self.state, self.turn = bench, bench.state, turn
        self.words, self.line, self.why, self.offers = W.HTML(), W.HTML(), W.HTML(), W.HTML()
        self.status = W.HTML()
        self.words.add_class("wbp-answer-words")
        self.line.add_class("wbp-answer-line")
        self.why.add_class("wbp-why")
        self.view = ""  # the title of the view that shows the reason
        self.see = self._link("", "Show what says so", lambda: self.turn(self.view, ""))
        self.show = self._link("show", "Set its model and its configs again, and show it", self._bring_back)
        self.open = self._link("▾ answer", "Show the whole answer", partial(self.fold, False))
        self.nexts = W.HBox([], classes="wbp-next")
        row = W.HBox([self.why, self.see, self.show, self.nexts], classes="wbp-answer-row")
        self.further = W.HBox([], classes="wbp-next")  # of the view that folds the answer
        head = W.HBox([self.line, self.further, self.open], classes="wbp-answer-head")
        self.widget = W.VBox([head, self.words, row, self.status], classes="wbp-answer")
        self.steps: list[tuple[str, str]] = []
        self.folding = ""  # the title of the view that folds the answer
        self._showing = threading.RLock()  # two threads do; the last one must have read the newest state
        self.state.observe(self._follow_job, names="job")
        follow(self.state, self._show, *STATE)

    def _link(self, label: str, hint: str, act: Any) -> W.Button:
        return button(label, hint, act, self.status, classes="wbp-question")

    def fold(self, folded: bool, view: str = "") -> None:
        """Show one line with what would say more in a view, or the whole answer."""
        self.folding = view if folded else ""
        self._offer()
        (self.widget.add_class if folded else self.widget.remove_class)("wbp-folded")

    def _follow_job(self, change: dict[str, Any]) -> None:
        """Draw everything when a job begins or ends, and in between, ten times a second, what it says."""
        if change["new"] is None or change["old"] is None:
            self._show()
        else:
            with self._showing:
                self._say()

    def _bring_back(self) -> None:
        answer = self.state.folded[-1]
        if answer.subject is None:
            self.bench.show(answer.result)
        else:
            self.state.set_subject(answer)

    def _show(self) -> None:
        with self._showing:
            self._fill()

    def _fill(self) -> None:
        state, result, view = self.state, self.state.result, self.state.job
        if view is None or view.name not in REPLACING:
            if result is not None:
                self.words.value = verdict_html(result.record, shares=result.time_elsewhere())
            elif state.run_error is not None and not isinstance(state.run_error, Cancelled):
                self.words.value = failed_html("The run", state.run_error)
            else:
                self.words.value = empty_html(state)
        self._say()
        W.set_shown(self.see, bool(self.view))
        self.see.description = self.view
        W.set_shown(self.show, bool(last_words(state)) and view is None)
        self._offer()

    def _say(self) -> None:
        """Show how far a job is, or why the answer is so; samples are not looked at, which takes seconds."""
        view = self.state.job
        if view is not None and view.name in REPLACING:
            self.words.value = running_html(view)
        self.line.value = f'<div class="wbp-say">{text(self._one_line())}</div>'
        self.why.value, self.view = self._reason()
        self.why.tabbable = bool(self.why.value)  # keys scroll words that are more than their place holds

    def _one_line(self) -> str:
        view, result = self.state.job, self.state.result
        if view is not None:
            return step_words(view) if view.name in REPLACING else doing_words(view)
        if self.state.run_error is not None:
            return f"No result: {one_line(str(self.state.run_error), MOST_LETTERS)}"
        return last_words(self.state) or (
            verdict_in_words(result.record) if result is not None else "No answer yet"
        )

    def _reason(self) -> tuple[str, str]:
        """Return what stands below the answer: what runs or went wrong, or why, and where it is seen."""
        state, view, result = self.state, self.state.job, self.state.result
        if view is not None:
            return "" if view.name in REPLACING else progress_html(view), ""
        if state.run_error is not None and (result is not None or isinstance(state.run_error, Cancelled)):
            return error_html(state.run_error), ""
        if note := last_words(state):
            return note_html(note), ""
        if result is None:
            return "", ""
        stopped = result.record.stopped
        head, words, title = why_words(result)
        reason = f"<b>{head}:</b> {text(words)}" if words else ""
        notes = [f"{stopped[0].upper()}{stopped[1:]}." if stopped else "", missing_words(state)]
        sentence = f"{text(' '.join(notes))} {reason}"
        return f'<div class="wbp-say" role="status">{sentence}</div>', title

    def _offer(self) -> None:
        """Offer the next steps; buttons that stay the same keep the focus."""
        lead, steps = next_steps(self.bench, self.turn)
        further = view_steps(self.bench, self.turn, self.folding)
        wanted = [(lead, ""), *((step.label, step.hint) for step in [*steps, *further])]
        if wanted != self.steps:
            self.steps = wanted
            self.offers.value = f'<span class="wbp-quiet">{text(lead)}</span>' if steps else ""
            made = [button(step.label, step.hint, step.act, self.status) for step in [*steps, *further]]
            W.replace(self.nexts, self.offers, *made[: len(steps)])
            W.replace(self.further, *made[len(steps) :])
        for made in [*self.nexts.children[1:], *self.further.children]:
            made.disabled = self.state.job is not None


def why_words(result: Comparison) -> tuple[str, str, str]:
    """Return a word for what follows, why it is so, and the title of the view that shows it.

    Where the reason is not known yet, it is what differs in the configs, under its own name.
    """
    if words := result.why:
        slower = any(part.kind == "why slower" for part in result.parts)
        return "Why", words, "Where time goes" if slower else "What ORT did"
    before, after = result.runs[:2]
    if before.failure is not None or after.failure is not None:  # the answer has the reason
        return "", "", ""
    changes = before.config.diff(after.config).changes
    return "What differs", ", ".join(map(str, changes)) or "nothing, both configs are the same", ""
