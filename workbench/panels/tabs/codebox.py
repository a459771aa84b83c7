"""The code of what is on the screen, to copy or to put into a cell."""

from __future__ import annotations

from html import escape

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.guard import shown_in

KINDS = (
    ("this comparison", "result"),
    ("the panels as they are", "panels"),
    ("plain ORT: A", "A"),
    ("plain ORT: B", "B"),
)


class CodeBox:
    """Shown and hidden by a button elsewhere."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.kind = W.Dropdown(options=KINDS, value="panels", tooltip="Which code to show")
        self.shown, self.status = W.HTML(), W.HTML()
        self.copy = W.Button(description="Copy", tooltip="Put the code into the clipboard")
        self.cell = W.Button(description="Insert as cell", tooltip="Put the code into a new cell below")
        for button in (self.copy, self.cell):
            button.add_class("wbp-small")
        row = W.HBox([self.kind, self.copy, self.cell])
        row.add_class("wbp-actions")
        self.widget = W.VBox([row, self.shown, self.status])
        self.widget.layout.display = "none"
        self.kind.observe(lambda _: self.refresh(), names="value")
        self.copy.on_click(lambda _: bench.page.copy(self.text, self.status))
        self.cell.on_click(lambda _: bench.page.insert(self.text, self.status))
        bench.state.observe(self._changed, names=["a", "b", "model", "result", "dims", "seed", "given"])

    @property
    def text(self) -> str:
        """The code that is shown."""
        return self.bench.code(self.kind.value)

    def toggle(self) -> None:
        """Open it with the code of the result, where there is one; or close it."""
        closed = self.widget.layout.display == "none"
        self.widget.layout.display = None if closed else "none"
        if closed:
            self.kind.value = "panels" if self.bench.state.result is None else "result"
            self.refresh()

    def _changed(self, _: object) -> None:
        if self.widget.layout.display != "none":
            self.refresh()

    def refresh(self) -> None:
        """Show the code as it would be copied now."""
        with shown_in(self.status):
            self.shown.value = f'<pre class="wbp-code" tabindex="0">{escape(self.text)}</pre>'
