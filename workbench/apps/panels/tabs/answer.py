"""The answer, always in one place and of one height: what was found, why, and what to do next."""

from __future__ import annotations

import threading
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, buttons_of, follow
from workbench.apps.panels.tabs.answer_words import REPLACING, last_answer, running_html, said, words_html
from workbench.apps.panels.tabs.next_steps import Turn, next_steps
from workbench.drawing.markup import text

STATE = ("answer", "made", "run_error", "model", "configs", "folded", "preview", "budget_s", "doctor")
_SAYS_SO, _BRINGS_BACK = "Show what says so", "Set its model and its configs again, and show it"


class AnswerPlace:
    """Shows the comparison on the screen, a running one, why the last run gave none, or how to begin."""

    def __init__(self, bench: Bench, turn: Turn) -> None:
        """`turn` selects a view by its title, and in it a kind of result."""
        self.bench, self.state, self.turn = bench, bench.state, turn
        self.words, self.line = W.HTML(classes="wbp-answer-words"), W.HTML(classes="wbp-answer-line")
        self.why, self.lead, self.status = W.HTML(classes="wbp-why"), W.HTML(), W.HTML()
        self.see = self._link("", "", self._look)
        self.open = self._link("▾ answer", "Show the whole answer", self.fold)
        self.nexts = W.HBox([], classes="wbp-next")
        self.further = W.HBox([], classes="wbp-next")  # of the view that folds the answer
        head = W.HBox([self.line, self.further, self.open], classes="wbp-answer-head")
        row = W.HBox([self.why, self.see, self.nexts], classes="wbp-answer-row")
        self.widget = W.VBox([head, self.words, row, self.status], classes="wbp-answer")
        self.offered: list[tuple[str, ...]] = []  # labels and hints of the steps on the screen
        self.folding = ""  # the title of the view that folds the answer
        self._showing = threading.RLock()  # two threads do; the last one must have read the newest state
        self.state.observe(self._follow_job, names="job")
        follow(self.state, self._show, *STATE)

    def _link(self, label: str, hint: str, act: Any) -> W.Button:
        return button(label, hint, act, self.status, classes="wbp-question")

    def fold(self, view: str = "") -> None:
        """Show one line with what would say more in a view, or without a view the whole answer."""
        self.folding = view
        self._offer()
        (self.widget.add_class if view else self.widget.remove_class)("wbp-folded")

    def _look(self) -> None:
        """Turn to the view that says so, or bring the last answer back with its model and its configs."""
        if (answer := last_answer(self.state)) is None:
            self.turn(self.see.description, "")
        elif answer.subject is None:
            self.bench.show(answer.result)
        else:
            self.state.set_subject(answer)

    def _follow_job(self, change: dict[str, Any]) -> None:
        """Draw everything when a job begins or ends, and in between, ten times a second, what it says."""
        (self._show if change["new"] is None or change["old"] is None else self._say)()

    def _show(self) -> None:
        with self._showing:
            self.words.value = words_html(self.state)
            self._say()
            self._offer()

    def _say(self) -> None:
        """Show how far a job is, or why the answer is so; samples are not looked at, which takes seconds."""
        with self._showing:
            job = self.state.job
            if job is not None and job.name in REPLACING:
                self.words.value = running_html(job)
            line, self.why.value, self.see.description = said(self.state)
            self.line.value = f'<div class="wbp-say">{text(line)}</div>'
            self.why.tabbable = bool(self.why.value)  # keys scroll words that are more than their place holds
            self.see.tooltip = _SAYS_SO if last_answer(self.state) is None else _BRINGS_BACK
            W.set_shown(self.see, bool(self.see.description))

    def _offer(self) -> None:
        """Offer the next steps; buttons that stay the same keep the focus."""
        lead, steps, further = next_steps(self.bench, self.turn, self.folding)
        offered = [(lead,), *((label, hint) for label, hint, _ in (*steps, *further))]
        if offered != self.offered:
            self.offered = offered
            self.lead.value = f'<span class="wbp-quiet">{text(lead)}</span>' if steps else ""
            W.replace(self.nexts, self.lead, *buttons_of(self.status, *steps).values())
            W.replace(self.further, *buttons_of(self.status, *further).values())
        for step in (*self.nexts.children[1:], *self.further.children):
            step.disabled = self.state.job is not None
