"""The code of what is on the screen, to copy or to insert as a cell."""

from __future__ import annotations

from html import escape

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import buttons_of, follow, shown_in
from workbench.apps.panels.state import SUBJECT

_KINDS = {"result": "this comparison", "panels": "the panels as they are"}
_CODED = (*SUBJECT, "result", "preview", "budget_s", "smallest_effect", "pacing_s", "clock")  # in the code


class CodeBox:
    """Shows the code, to copy or to insert."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.kind = W.Dropdown(tooltip="Which code to show")
        self.shown, self.status = W.HTML(), W.HTML()
        buttons = buttons_of(
            self.status,
            ("Copy", "Put the code into the clipboard", self._copy),
            ("Insert as cell", "Put the code into a new cell below", self._insert),
        )
        self.copy, self.cell = buttons.values()
        row = W.HBox([self.kind, self.copy, self.cell], classes="wbp-actions")
        self.widget = W.VBox([row, self.shown, self.status])
        follow(bench.state, self._offer, "more")
        self.kind.observe(lambda _: self.refresh(), names="value")
        bench.state.observe(lambda _: self.refresh(), names=_CODED)

    def _offer(self) -> None:
        """Offer the code of what is on the screen, and a plain script of each config."""
        scripts = {label: f"plain ORT: {label}" for label in self.bench.state.configs}
        kept, kinds = self.kind.value, {**_KINDS, **scripts}
        if tuple(kinds) != tuple(value for _, value in self.kind.options):
            self.kind.options = [(words, kind) for kind, words in kinds.items()]
            self.kind.value = kept if kept in kinds else "panels"

    @property
    def text(self) -> str:
        """The code on the screen."""
        return self.bench.code(self.kind.value)

    def show(self) -> None:
        """Show the code of the result, if there is one."""
        self.kind.value = "panels" if self.bench.state.result is None else "result"
        self.refresh()

    def _copy(self) -> None:
        self.bench.page.copy(self.text, self.status)

    def _insert(self) -> None:
        self.bench.page.insert(self.text, self.status)

    def refresh(self) -> None:
        """Show the code as it would be copied now."""
        with shown_in(self.status):
            self.shown.value = f'<pre class="wbp-code" tabindex="0">{escape(self.text)}</pre>'
