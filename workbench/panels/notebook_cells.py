"""What is asked of the page that shows the panels: cells, files, the clipboard; each answer is shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ipywidgets as W

from workbench.panels.bridge import Bridge
from workbench.panels.markup import note_html, warning_html

if TYPE_CHECKING:
    from workbench.panels.task_thread import Line


class NotebookPage:
    """Knows the bridge, the widget that the panels are, and the cell that they were made in."""

    def __init__(self, painter: Line) -> None:
        self.bridge = Bridge()
        self.root = ""  # model id of the widget that holds all panels
        self.cell = Cell()
        self._painter = painter

    def pin(self, code: str, bundle: dict[str, Any], status: W.HTML) -> None:
        """Put a cell with that code and output below the panels; where no cell can be put, the output."""
        output = {"output_type": "display_data", "data": bundle, "metadata": {}}

        def then(problem: str | None) -> None:
            if problem is None:
                self._tell(status, note_html("Pinned below."))
            elif self.cell.show(bundle):
                self._tell(
                    status, note_html(f"Pinned under the panels, since no cell could be added ({problem}).")
                )
            else:
                self._tell(status, warning_html(f"Not pinned: {problem}.", f"Run this in a cell: {code}"))

        self._tell(status, note_html("Pinning…"))
        self.bridge.insert_cell(self.root, code, [output], then)

    def insert(self, code: str, status: W.HTML) -> None:
        """A new cell below with that code."""
        self.bridge.insert_cell(self.root, code, [], self._answer(status, "Added below.", "Copy it by hand."))

    def copy(self, text: str, status: W.HTML) -> None:
        """Into the clipboard."""
        self.bridge.copy(text, self._answer(status, "Copied.", "Mark the text and copy it by hand."))

    def download(
        self, name: str, mime: str, data: bytes, status: W.HTML, *, before: str = "", fix: str = "Use Save."
    ) -> None:
        """As a file of the browser; `before` is what was done already."""
        said = f"{before} {name} is in your downloads.".lstrip()
        self.bridge.download(name, mime, data, self._answer(status, said, fix))

    def _answer(self, status: W.HTML, done: str, fix: str) -> Callable[[str | None], None]:
        def then(problem: str | None) -> None:
            self._tell(status, note_html(done) if problem is None else warning_html(f"{problem}.", fix))

        return then

    def _tell(self, status: W.HTML, value: str) -> None:
        self._painter.post(lambda: setattr(status, "value", value))


class Cell:
    """The cell that showed the panels last: a message with its header as parent lands under it."""

    def __init__(self) -> None:
        self._parent: Any = None
        self._kernel: Any = None

    def remember(self) -> None:
        """Called while the cell runs."""
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        kernel = getattr(shell, "kernel", None)
        if kernel is not None:
            self._kernel, self._parent = kernel, kernel.get_parent("shell")

    def show(self, bundle: dict[str, Any]) -> bool:
        """Add an output under it; whether there is such a cell at all. After a page reload nobody listens."""
        if self._kernel is None:
            return False
        content = {"data": bundle, "metadata": {}, "transient": {}}
        self._kernel.session.send(self._kernel.iopub_socket, "display_data", content, parent=self._parent)
        return True
