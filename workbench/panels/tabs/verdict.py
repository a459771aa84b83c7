"""The banner: the verdict in one sentence, and the reasons to doubt it."""

from __future__ import annotations

from html import escape

import ipywidgets as W

from workbench.api.comparing import Comparison
from workbench.judge.wording import sentence
from workbench.panels.bench import Bench
from workbench.panels.markup import error_html, text

MARKS = {"faster": "▲", "slower": "▼", "tie": "≈", "outputs differ": "≠", "unknown": "?"}
EMPTY = (
    '<div class="wbp-verdict wbp-empty"><div>Pick a model, change something in B, and press <b>Compare</b>: '
    "both configs are measured in turns, and the verdict stands here.</div></div>"
)


class Banner:
    """Shows the verdict of the comparison on the screen, and why the last run gave none."""

    def __init__(self, bench: Bench) -> None:
        self.state = bench.state
        self.verdict, self.error = W.HTML(), W.HTML()
        self.widget = W.VBox([self.error, self.verdict])
        self.state.observe(self._show, names=["result", "run_error"])
        self._show()

    def _show(self, _: object = None) -> None:
        state = self.state
        self.error.value = error_html(state.run_error) if state.run_error else ""
        self.verdict.value = verdict_html(state.result) if state.result else EMPTY


def verdict_html(result: Comparison) -> str:
    """Return the sentence with its mark, and the doubts folded below."""
    kind = result.verdict.kind
    head, _, rest = text(sentence(result.record, result.verdict)).partition("; ")
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
