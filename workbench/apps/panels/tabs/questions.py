"""The next questions below the verdict, as links: each makes what answers it and turns to its tab."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button, follow
from workbench.apps.panels.tabs.result_row import ResultRow
from workbench.features.base.registry import KINDS

_ANSWERS = (  # question, kind of result, the tab that answers it if that is not the kind's own, tooltip
    ("accuracy", "accuracy", "", "How right A and B are"),
    ("profile", "profile", "", "Where the time goes: profile A and B"),
    ("fusions", "explanation", "fusions", "What ORT fused in A and in B, and what it left alone"),
    ("each pass", "ablation", "", "What each pass that fired is worth, disabled one at a time"),
)


class Questions:
    """Links and the button `more`; `turn` selects a tab by its title, and in it a kind of result."""

    def __init__(
        self, bench: Bench, row: ResultRow, more: W.Button, turn: Callable[[str, str], None]
    ) -> None:
        self.bench, self.state, self.row, self.turn = bench, bench.state, row, turn
        self.status = W.HTML()
        self.why = self._link("why?", "What ORT did differently, or what costs B its time", self._ask_why)
        asked = [self._link(text, hint, partial(self._ask, *answer)) for text, *answer, hint in _ANSWERS]
        hint = "One HTML file with everything, beside the notebook and in your downloads"
        self.share = self._link("share", hint, row.export)
        self.ways = self._link(
            "share as…", "Pin, save, download, name the file, export data, deploy", row.toggle
        )
        self.links = [self.why, *asked, self.share, self.ways]
        line = W.HBox([*self.links, more], classes="wbp-questions")
        self.widget = W.VBox([line, self.status])
        follow(self.state, self._show, "result", "job")

    def _link(self, text: str, hint: str, act: Callable[[], None]) -> W.Button:
        return button(text, hint, act, self.status, classes="wbp-question")

    def _show(self) -> None:
        for link in self.links:
            W.set_shown(link, self.state.result is not None)
        for link in self.links[:-1]:
            link.disabled = self.state.job is not None

    def _ask_why(self) -> None:
        self._ask("why slower" if self.state.result.verdict.kind == "slower" else "explanation")

    def _ask(self, kind: str, title: str = "") -> None:
        """Turn to the answer; make it where there is none."""
        self.turn(title or KINDS.named(kind).tabs[0], kind)
        if not self.state.has_part(kind):
            self.bench.run(kind)
