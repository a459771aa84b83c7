"""The page that shows the panels: what only it can do, such as insert a cell, save a file, copy a text."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import anywidget

from workbench.apps.panels import widgets as W
from workbench.apps.panels.handlers import button, error_to
from workbench.apps.panels.markup import warning_html
from workbench.apps.panels.task_thread import TaskThread
from workbench.drawing.markup import note_html

_ACTS = {  # of a person in the page: the name of a clicked point, ±1 of an arrow of a projector or 0 of
    # Escape, the path that Enter was pressed behind, the names of dropped files
    "pick": str, "step": int, "open": str, "files": list,
}  # fmt: skip
_FIX = "Allow this page to save files, or copy the code and run it in a cell."
Answered = Callable[[str | None], None]  # called with None on success, else with the reason


class Bridge(anywidget.AnyWidget):
    """Sends requests to the page and hands over its answers; without a page nothing answers."""

    _esm = W.static("bridge.js")

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[int, Answered] = {}
        self._count = 0
        self.on: dict[str, Callable[[Any], None]] = {}  # what is done about an act of `_ACTS`
        self.on_msg(self.answer)

    def ask(self, then: Answered, *buffers: bytes, **content: Any) -> None:
        """Send a request of a `kind`: a cell below that of the widget `root`, a download, a copy."""
        self._count += 1
        self._waiting[self._count] = then
        self.send({"id": self._count, **content}, list(buffers) or None)

    def answer(self, _: Any, content: Mapping[str, Any], buffers: Any) -> None:
        """Hand over what a person did, or the first answer; two pages may show the panels."""
        act = next((name for name, kind in _ACTS.items() if isinstance(content.get(name), kind)), None)
        if act is not None:
            value = content[act]
            if act == "files":
                named = zip(value, buffers, strict=True)
                value = tuple({"name": name, "content": data} for name, data in named)
            self.on.get(act, lambda _: None)(value)
            return
        then = self._waiting.pop(content.get("id", 0), None)
        if then is not None:
            then(None if content.get("ok") else str(content.get("failed", "no reason given"))[:500])


class NotebookPage:
    """Holds the bridge, the id of the widget that holds the panels, and the cell that showed them last."""

    def __init__(self, ui: TaskThread, in_background: Callable[..., None]) -> None:
        """`in_background` runs slow work, and hands over its value or its error."""
        self.bridge = Bridge()
        self.root = ""  # model id of the widget that holds all panels
        self._ui, self._in_background = ui, in_background
        self._kernel: Any = None
        self._cell: Any = None  # the header of the cell that showed the panels last

    def pin(self, code: str, make: Callable[[], dict[str, Any]], status: W.HTML) -> None:
        """Insert a cell with that code and output below the panels; if that fails, show the output alone."""
        self._in_background(make, partial(self._pin, code, status), error_to(status))

    def _pin(self, code: str, status: W.HTML, bundle: dict[str, Any]) -> None:
        output = {"output_type": "display_data", "data": bundle, "metadata": {}}

        def then(problem: str | None) -> None:
            if problem is None:
                message = note_html("Pinned below.")
            elif self._show_below(bundle):
                message = note_html(f"Pinned under the panels, since no cell could be added ({problem}).")
            else:
                message = warning_html(f"Not pinned: {problem}.", f"Run this in a cell: {code}")
            self._show(status, message)

        self._show(status, note_html("Pinning…"))
        self.bridge.ask(then, kind="cell", root=self.root, source=code, outputs=[output])

    def insert(self, code: str, status: W.HTML) -> None:
        """Insert a cell with that code below the panels."""
        cell = {"kind": "cell", "root": self.root, "source": code, "outputs": []}
        self._ask(status, "Added below.", "Copy it by hand.", **cell)

    def copy(self, text: str, status: W.HTML) -> None:
        """Put text into the clipboard."""
        self._ask(status, "Copied.", "Select the text and copy it by hand.", kind="copy", text=text)

    def copy_button(
        self, label: str, hint: str, code: Callable[[], str], status: W.HTML, classes: str = "wbp-small"
    ) -> W.Button:
        """Return a button that copies a text, which is made when it is pressed."""
        return button(label, hint, lambda: self.copy(code(), status), status, classes=classes)

    def download(
        self, name: str, mime: str, data: bytes, status: W.HTML, *, before: str = "", fix: str = _FIX
    ) -> None:
        """Save a file with the browser; `before` says what was done already."""
        message = f"{before} {name} is in your downloads.".lstrip()
        self._ask(status, message, fix, data, kind="download", name=name, mime=mime)

    def download_made(
        self, name: str, mime: str, make: Callable[[], bytes], status: W.HTML, fix: str = _FIX
    ) -> None:
        """Make a file in the background and save it with the browser."""
        save = partial(self.download, name, mime, status=status, fix=fix)
        self._in_background(make, save, error_to(status))

    def _ask(self, status: W.HTML, done: str, fix: str, *buffers: bytes, **content: Any) -> None:
        """Ask the page; say in `status` that it was done, or why not and what to do."""

        def then(problem: str | None) -> None:
            self._show(status, note_html(done) if problem is None else warning_html(f"{problem}.", fix))

        self.bridge.ask(then, *buffers, **content)

    def _show(self, status: W.HTML, message: str) -> None:
        self._ui.post(partial(setattr, status, "value", message))

    def remember_cell(self) -> None:
        """Keep the header of the cell that runs now: a message with it as parent appears under the cell."""
        from IPython.core.getipython import get_ipython

        shell = get_ipython()
        kernel = getattr(shell, "kernel", None)
        if kernel is not None:
            self._kernel, self._cell = kernel, kernel.get_parent("shell")

    def _show_below(self, bundle: dict[str, Any]) -> bool:
        """Add an output under the cell; return whether there is one. After a page reload nobody listens."""
        if self._kernel is None:
            return False
        content = {"data": bundle, "metadata": {}, "transient": {}}
        self._kernel.session.send(self._kernel.iopub_socket, "display_data", content, parent=self._cell)
        return True
