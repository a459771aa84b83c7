"""The next questions below the verdict, as links: each makes what answers it and turns to its tab."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import button
from workbench.panels.tabs.result_row import ResultRow
from workbench.results.registry import KINDS

ANSWERS = {"accuracy": "accuracy", "where the time goes": "profile"}  # question → kind of result


class Questions:
    """Four links, `more` and the code; `turn` selects a tab by its title."""

    def __init__(self, bench: Bench, row: ResultRow, more: W.Button, turn: Callable[[str], None]) -> None:
        self.bench, self.state, self.row, self.turn = bench, bench.state, row, turn
        self.status = W.HTML()
        hints = {"accuracy": "How right A and B are", "where the time goes": "Profile A and B"}
        self.why = self._link("why?", "What ORT did differently, or what costs B its time", self._ask_why)
        asked = [self._link(text, hints[text], partial(self._ask, kind)) for text, kind in ANSWERS.items()]
        self.share = self._link("share", "Save, download, export, pin or deploy this", row.toggle)
        self.links = [self.why, *asked, self.share]
        line = W.HBox([*self.links, more, row.buttons["Copy as Python"]])
        line.add_class("wbp-questions")
        self.widget = W.VBox([line, self.status])
        self.state.observe(self._show, names=["result", "job"])
        self._show()

    def _link(self, text: str, hint: str, act: Callable[[], None]) -> W.Button:
        return button(text, hint, act, self.status, kind="question")

    def _show(self, _: object = None) -> None:
        for link in self.links:
            link.layout.display = "none" if self.state.result is None else None
        for link in self.links[:-1]:
            link.disabled = self.state.job is not None

    def _ask_why(self) -> None:
        self._ask("why slower" if self.state.result.verdict.kind == "slower" else "explanation")

    def _ask(self, kind: str) -> None:
        """Turn to the answer; make it where there is none."""
        self.turn(KINDS.named(kind).tabs[0])
        if not self.state.has_part(kind):
            self.bench.run(kind)
