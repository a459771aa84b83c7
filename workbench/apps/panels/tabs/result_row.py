"""The menu to share a comparison: a pinned cell, a bundle, a page, data, a server; and its code."""

from __future__ import annotations

from functools import cached_property, partial
from io import BytesIO
from itertools import chain, count
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.files import content_of, file_name
from workbench.apps.panels.handlers import buttons_of, error_to, follow
from workbench.apps.panels.markup import note_html
from workbench.apps.panels.tabs.card import still_bundle
from workbench.apps.panels.tabs.codebox import CodeBox
from workbench.apps.panels.tabs.deploying import Deploying
from workbench.core.config.literals import text_literal


class ResultRow:
    """Buttons for the comparison on the screen, and the path that they write to."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.path = W.TextField(
            placeholder="file.ortbench", tooltip="Where to save the bundle; relative to the notebook"
        )
        self.status = W.HTML()
        self.named: Any = None  # the result whose name the path has
        self.buttons = buttons_of(
            self.status,
            ("Copy as Python", "The code that does exactly this", self._toggle_code),
            ("Pin verdict", "Keep verdict and figure in a cell below that survives sharing", self._pin),
            (
                "Save",
                "Write a bundle that wb.open reads anywhere, without model and ONNX Runtime",
                self._save,
            ),
            ("Download", "Save the bundle with the browser", self._download),
            (
                "Export HTML",
                "One HTML file, beside the notebook and in your downloads: opens offline, with live figures",
                self.export,
            ),
            (
                "Export data",
                "Tables as CSV, configs, scripts, a picture: a new folder, and its zip in your downloads",
                self.export_data,
            ),
        )
        _, pin, save, download, export, data = self.buttons.values()
        sharing = W.HBox([pin, self.path, save, download, export, data], classes="wbp-actions")
        self.menu = W.VBox([sharing])
        W.set_shown(self.menu, False)
        self.widget = W.VBox([self.menu, self.status])
        follow(self.state, self._show, "result", "model", "job")

    @cached_property
    def code(self) -> CodeBox:
        """The code of the result; made when it is first asked for."""
        box = CodeBox(self.bench)
        self.widget.children = (self.menu, box.widget, self.status)
        return box

    @property
    def file(self) -> Path:
        """The path in the field."""
        return Path(self.path.value.strip() or "result.ortbench").expanduser()

    def _toggle_code(self) -> None:
        self.code.toggle()

    def toggle(self) -> None:
        """Open or close the menu."""
        if len(self.menu.children) == 1:
            self.menu.children = (*self.menu.children, Deploying(self.bench).widget)
        closed = self.menu.layout.display == "none"
        W.set_shown(self.menu, closed)
        if not closed:
            self.status.value = ""

    def _show(self) -> None:
        result = self.state.result
        for button in list(self.buttons.values())[1:]:
            button.disabled = result is None
        if self.state.job is not None:
            self.buttons["Export HTML"].disabled = True
        if result is not None and result is not self.named:
            self.named = result
            self.path.value = f"{file_name(result.record.model.name)}.ortbench"

    def _pin(self) -> None:
        bundle = partial(still_bundle, self.state.result)
        self.bench.page.pin(self.bench.card_code("result"), bundle, self.status)

    def _save(self) -> None:
        self.status.value = note_html("Saving…")
        save = partial(self.state.result.save, self.file)
        self.bench.in_background(save, self._saved, error_to(self.status))

    def _saved(self, path: Path) -> None:
        self.status.value = note_html(f"Saved as {path}; wb.open reads it anywhere.")

    def _download(self) -> None:
        name = f"{file_name(self.state.result.record.model.name)}.ortbench"
        bundle = partial(content_of, self.state.result.save, "result.ortbench")
        self.bench.page.download_made(name, "application/zip", bundle, self.status)

    def export(self) -> None:
        """Export as a job that can be cancelled: a page with large graphs takes seconds."""
        self.status.value = note_html("Exporting…")
        self.bench.export(self.file.with_suffix(".html"), self._exported, error_to(self.status))

    def _exported(self, written: tuple[Path, bytes]) -> None:
        path, data = written
        self._offer(f"Written as {path.absolute()}", path.name, "text/html", data)

    def export_data(self) -> None:
        """Write the tables of the result into a new folder beside the bundle, and offer them as a zip."""
        self.status.value = note_html("Exporting…")
        export = partial(data_of, self.state.result, self.file.with_suffix(""))
        self.bench.in_background(export, self._data_written, error_to(self.status))

    def _data_written(self, written: tuple[Path, bytes]) -> None:
        folder, data = written
        place = f"Written as {folder.absolute()}, by result.export({text_literal(str(folder))})"
        self._offer(place, f"{folder.name}.zip", "application/zip", data)

    def _offer(self, place: str, name: str, mime: str, data: bytes) -> None:
        """Say where a file was written, and save its copy with the browser."""
        self.status.value = note_html(f"{place}.")  # also where no page answers
        self.bench.page.download(name, mime, data, self.status, before=f"{place};", fix=f"{place}.")


def data_of(result: Any, path: Path) -> tuple[Path, bytes]:
    """Export a result into the first new folder with this name; return the folder and its zip."""
    names = chain([f"{path.name}-data"], (f"{path.name}-data-{number}" for number in count(2)))
    folders = map(path.with_name, names)
    folder: Path = result.export(next(folder for folder in folders if not folder.exists()))
    buffer = BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for file in sorted(file for file in folder.rglob("*") if file.is_file()):
            archive.write(file, file.relative_to(folder.parent))
    return folder, buffer.getvalue()
