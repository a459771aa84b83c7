"""What can be done with a result: code, a pinned cell, a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets as W

from workbench.panels.bench import Bench
from workbench.panels.buttons import Act, buttons_of
from workbench.panels.markup import note_html
from workbench.panels.tabs.card import still_bundle
from workbench.panels.tabs.codebox import CodeBox
from workbench.panels.tabs.naming import file_name
from workbench.panels.tabs.verdict import trouble_html
from workbench.worker.folder import WorkerFolder


class Actions:
    """A row of buttons below the verdict."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.code = CodeBox(bench)
        self.path = W.Text(
            placeholder="file.ortbench", tooltip="Where to save the bundle; relative to the notebook"
        )
        self.status = W.HTML()
        self.shown: Any = None  # the result whose name the path has
        acts: tuple[Act, ...] = (
            ("Copy as Python", "The code that does exactly this", self.code.toggle),
            ("Pin verdict", "Keep verdict and figure in a cell below that survives sharing", self._pin),
            (
                "Save",
                "Write a bundle that wb.open reads anywhere, without model and ONNX Runtime",
                self._save,
            ),
            ("Download", "Save the bundle with the browser", self._download),
            (
                "Export HTML",
                "One HTML file, beside the notebook and in your downloads: opens offline, all of it alive",
                self._export,
            ),
        )
        self.buttons = buttons_of(acts, self.status)
        code, pin, save, download, export = self.buttons.values()
        row = W.HBox([code, pin, self.path, save, download, export])
        row.add_class("wbp-actions")
        self.widget = W.VBox([row, self.code.widget, self.status])
        self.state.observe(self._show, names=["result", "model", "job"])
        self._show()

    def _show(self, _: object = None) -> None:
        result = self.state.result
        for button in list(self.buttons.values())[1:]:
            button.disabled = result is None
        if self.state.job is not None:
            self.buttons["Export HTML"].disabled = True
        if result is not None and result is not self.shown:
            self.shown = result
            self.path.value = f"{file_name(result.record.model.name)}.ortbench"

    def _pin(self) -> None:
        result = self.state.result
        code = self.bench.reopening("result")
        self.bench.drawer.post(lambda: self.bench.page.pin(code, still_bundle(result), self.status))

    def _save(self) -> None:
        result, asked = self.state.result, Path(self.path.value.strip() or "result.ortbench").expanduser()

        def save() -> str:
            return note_html(f"Saved as {result.save(asked)}; wb.open reads it anywhere.")

        self.status.value = note_html("Saving…")
        self.bench.aside(self.status, save)

    def _download(self) -> None:
        name = f"{file_name(self.state.result.record.model.name)}.ortbench"
        self.bench.drawer.post(lambda: download(self.bench, name, self.status))

    def _export(self) -> None:
        """A job, since a page with large graphs takes seconds."""
        given = Path(self.path.value.strip() or "result.ortbench").expanduser()

        def done(path: Path, data: bytes) -> None:
            self.bench.page.download(
                path.name, "text/html", data, self.status, before=f"Written as {path};",
                fix=f"It is written as {path}.",
            )  # fmt: skip

        def failed(error: Exception) -> None:
            self.status.value = trouble_html(error)

        self.status.value = note_html("Exporting…")
        self.bench.export(given.with_suffix(".html"), done, failed)


def download(bench: Bench, name: str, status: W.HTML) -> None:
    """The bundle through the browser, for a kernel on another machine."""
    with WorkerFolder() as folder:
        data = bench.state.result.save(folder / "result.ortbench").read_bytes()
    bench.page.download(name, "application/zip", data, status)
