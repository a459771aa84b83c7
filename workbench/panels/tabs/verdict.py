"""The banner: one sentence that a manager understands, and the reasons to doubt it."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import ipywidgets as W

from workbench.errors import Cancelled
from workbench.judge.wording import sentence
from workbench.panels.bench import Bench
from workbench.panels.markup import error_html, text

if TYPE_CHECKING:
    from workbench.api.comparing import Comparison

MARKS = {"faster": "▲", "slower": "▼", "tie": "≈", "outputs differ": "≠", "unknown": "?"}


class Banner:
    """The verdict of the comparison that is shown, and why the last run gave none."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.verdict, self.error = W.HTML(), W.HTML()
        self.widget = W.VBox([self.error, self.verdict])
        self.state.observe(self._show, names=["result", "run_error"])
        self._show()

    def _show(self, _: object = None) -> None:
        state = self.state
        self.error.value = trouble_html(state.run_error) if state.run_error else ""
        self.verdict.value = verdict_html(state.result) if state.result else EMPTY


def trouble_html(error: Exception) -> str:
    """Why the last run gave no result; that a person stopped it is no error."""
    if isinstance(error, Cancelled):
        return '<div class="wbp-note wbp-stopped" role="status">Stopped on request.</div>'
    return error_html(error)


EMPTY = (
    '<div class="wbp-verdict wbp-empty"><div>Pick a model, change something in B, and press <b>Compare</b>: '
    "both configs are measured in turns, and the verdict stands here.</div></div>"
)


def verdict_html(result: Comparison) -> str:
    """The sentence with its mark, and the doubts below, folded when there are many."""
    kind = result.verdict.kind
    said = text(sentence(result.record, result.verdict))
    head, _, rest = said.partition("; ")
    doubts = "".join(
        f"<li><b>{text(doubt.kind)}:</b> {text(doubt.evidence)} <i>Fix:</i> {text(doubt.fix)}</li>"
        for doubt in result.doubts
    )
    reasons = "1 reason" if len(result.doubts) == 1 else f"{len(result.doubts)} reasons"
    summary = f"<summary>{reasons} to doubt it</summary>"
    listed = f"<details>{summary}<ul>{doubts}</ul></details>" if doubts else ""
    return (
        f'<div class="wbp-verdict" data-kind="{escape(kind)}" role="status">'
        f'<span class="wbp-mark" aria-hidden="true">{MARKS[kind]}</span>'
        f"<div><b>{head}</b><div>{rest}</div>{listed}</div></div>"
    )
