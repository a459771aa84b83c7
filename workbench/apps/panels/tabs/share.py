"""The menu to share an answer: a page, a picture, a bundle, data, code, a notebook, a cell, a server."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable
from functools import cached_property, partial
from html import escape
from itertools import chain, count
from pathlib import Path
from shutil import make_archive
from typing import Any

import traitlets as t

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import notebook_cells
from workbench.apps.panels.files import content_of, file_name
from workbench.apps.panels.handlers import button, error_to, follow, shown_in
from workbench.apps.panels.state import SUBJECT
from workbench.apps.panels.tabs.card import still_bundle
from workbench.apps.panels.tabs.deploying import Deploying
from workbench.core.config.literals import text_literal
from workbench.core.errors import WorkbenchError
from workbench.drawing.markup import note_html

_GROUPS = (  # name, then items: key, label, tooltip
    ("Look", (
        ("page", "Page", "One HTML file, beside the notebook and in your downloads: opens offline"),
        ("picture", "Picture", "The figure with its verdict as a PNG in your downloads"),
        ("cell", "Cell", "Answer and figure in a cell below that survives sharing"),
    )),
    ("Keep", (
        ("bundle", "Bundle", "A file that wb.open reads anywhere, without model and ONNX Runtime"),
        ("data", "Data", "Tables as CSV, configs, scripts, a picture: a new folder, and its zip"),
    )),
    ("Run", (
        ("code", "Code", "The code that does exactly this, or plain ONNX Runtime"),
        ("notebook", "Notebook", "Everything done here, as a notebook that runs again"),
        ("server", "Server", "A folder with a server of one of the configs"),
    )),
)  # fmt: skip
_WITHOUT_ANSWER = ("code", "notebook")  # what there is without a comparison
_KINDS = {"result": "this comparison", "panels": "the panels as they are"}  # of code
_CODED = (*SUBJECT, "result", "preview", "budget_s", "smallest_effect", "pacing_s", "clock")  # in the code


class Menu(W.PageWidget):
    """A button with a menu of actions in groups: keys move in it, Escape closes it."""

    _esm = W.static("menu.js")

    label = t.Unicode(help="the text of the button").tag(sync=True)
    name = t.Unicode(help="the name of button and menu for screen readers").tag(sync=True)
    groups: t.List[Any] = t.List(help="a name and items for each: key, label, hint").tag(sync=True)
    locked = t.Bool(False, help="whether nothing can be chosen, since something runs").tag(sync=True)


class CodeBox:
    """Shows the code, to copy or to insert."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.kind = W.Dropdown(tooltip="Which code to show")
        self.shown, self.status = W.HTML(), W.HTML()
        hint = "Put the code into the clipboard"
        copy = bench.page.copy_button("Copy", hint, lambda: self.text, self.status)
        cell = button("Insert as cell", "Put the code into a new cell below", self._insert, self.status)
        row = W.HBox([self.kind, copy, cell], classes="wbp-actions")
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

    def _insert(self) -> None:
        self.bench.page.insert(self.text, self.status)

    def refresh(self) -> None:
        """Show the code as it would be copied now."""
        with shown_in(self.status):
            self.shown.value = f'<pre class="wbp-code" tabindex="0">{escape(self.text)}</pre>'


class Share:
    """The menu; what an item opens, and what came of it, stands in `shared`."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.place = W.HTML(), W.VBox([])
        groups = [
            {
                "name": name,
                "items": [{"key": key, "label": label, "hint": hint} for key, label, hint in items],
            }
            for name, items in _GROUPS
        ]
        self.menu = Menu(label="Share", name="share", groups=groups)
        self.menu.on_act = self.choose
        self.acts: dict[str, Callable[[], None]] = {
            "page": self.export, "picture": self._picture, "cell": self._pin, "bundle": self._save,
            "data": self.export_data, "code": self._code, "notebook": self._notebook, "server": self._server,
        }  # fmt: skip
        self.shared = W.VBox([self.place, self.status], classes="wbp-shared")
        follow(self.state, self._show, "job")

    @cached_property
    def code(self) -> CodeBox:
        """The code of the result; made when it is first asked for."""
        return CodeBox(self.bench)

    @cached_property
    def server(self) -> Deploying:
        """The form of a server; made when it is first asked for."""
        return Deploying(self.bench)

    def choose(self, key: str) -> None:
        """Do what an item says; what was open is closed."""
        with shown_in(self.status):
            proven = key == "server" and self.server.configs
            if key not in _WITHOUT_ANSWER and self.state.result is None and not proven:
                raise WorkbenchError("There is no answer to share yet.", "Press Compare first.")
            opened, self.place.children = self.place.children, ()
            self.acts[key]()
            if self.place.children == opened:  # asked for again: closed
                self.place.children = ()

    def _show(self) -> None:
        self.menu.locked = self.state.job is not None

    def _code(self) -> None:
        self.code.show()
        self.place.children = (self.code.widget,)

    def _server(self) -> None:
        self.place.children = (self.server.widget,)

    @property
    def name(self) -> str:
        """The name of the files: that of the model."""
        result, model = self.state.result, self.state.model
        return file_name((result.record.model if result is not None else model).name)

    def _pin(self) -> None:
        bundle = partial(still_bundle, self.state.result)
        self.bench.page.pin(self.bench.card_code("result"), bundle, self.status)

    def _picture(self) -> None:
        picture = partial(picture_of, self.state.result)
        self.bench.page.download_made(f"{self.name}.png", "image/png", picture, self.status)

    def _save(self) -> None:
        """Save the bundle beside the notebook, and offer it as a download."""
        path, save = new_path(Path(f"{self.name}.ortbench")), self.state.result.save
        self._write("Saving…", lambda: (save(path), path.read_bytes()),
                    "Saved as {}, which wb.open reads anywhere")  # fmt: skip

    def _notebook(self) -> None:
        name = f"{self.name if self.state.result or self.state.model else 'workbench'}.ipynb"
        data = notebook_of(self.codes).encode("utf-8", "replace")
        self.bench.page.download(name, "application/x-ipynb+json", data, self.status)

    @property
    def codes(self) -> list[str]:
        """The code of everything that was made here, and of an answer on the screen from elsewhere."""
        done, shown = self.state.done, self.bench.code("result")
        return [*done, *([shown] if not done or (self.state.result and shown not in done) else [])]

    def export(self) -> None:
        """Export as a job that can be cancelled: a page with large graphs takes seconds."""
        self.status.value = note_html("Exporting…")
        written = partial(self._offer, "Written as {}", "text/html")
        self.bench.export(new_path(Path(f"{self.name}.html")), written, error_to(self.status))

    def export_data(self) -> None:
        """Write the tables of the result into a new folder beside the bundle, and offer them as a zip."""
        export = partial(data_of, self.state.result, Path(self.name))
        self._write("Exporting…", export, "Written as {}, by result.export({})")

    def _write(self, doing: str, work: Callable[[], tuple[Path, bytes]], words: str) -> None:
        """Write in the background, and offer what was written as a zip."""
        self.status.value = note_html(doing)
        written = partial(self._offer, words, "application/zip")
        self.bench.in_background(work, written, error_to(self.status))

    def _offer(self, words: str, mime: str, written: tuple[Path, bytes]) -> None:
        """Say where a file or a folder was written, and save its copy with the browser."""
        path, data = written
        name = f"{path.name}.zip" if path.is_dir() else path.name
        place = words.format(path.absolute(), text_literal(str(path)))
        self.status.value = note_html(f"{place}.")  # also where no page answers
        self.bench.page.download(name, mime, data, self.status, before=f"{place};", fix=f"{place}.")


def data_of(result: Any, path: Path) -> tuple[Path, bytes]:
    """Export a result into the first new folder with this name; return the folder and its zip."""
    folder: Path = result.export(new_path(path.with_name(f"{path.name}-data")))
    place = folder.absolute()
    return folder, content_of(
        lambda file: Path(make_archive(str(file), "zip", place.parent, place.name)), "data"
    )


def new_path(path: Path) -> Path:
    """Return the first path of this name, with a number behind it where there are others, that is free."""
    numbered = (path.with_name(f"{path.stem}-{number}{path.suffix}") for number in count(2))
    return next(free for free in chain([path], numbered) if not free.exists())


def picture_of(result: Any) -> bytes:
    """Return the picture of a result as a PNG."""
    return b64decode(still_bundle(result)["image/png"])


def notebook_of(codes: list[str]) -> str:
    """Return a notebook with a cell for each code."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"cell-{place}", "metadata": {}, "outputs": [], "execution_count": None,
         "source": code}
        for place, code in enumerate(notebook_cells(codes), 1)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)
