"""The menu to share an answer: a page, a picture, a bundle, data, code, a notebook, a cell, a server."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from html import escape
from pathlib import Path
from shutil import make_archive
from typing import Any

import traitlets as t

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.code import notebook_cells
from workbench.apps.panels.files import content_of
from workbench.apps.panels.handlers import button, error_to, follow, shown_in
from workbench.apps.panels.jobs import Done, Failed, Job
from workbench.apps.panels.state import SUBJECT
from workbench.apps.panels.tabs.deploying import Deploying
from workbench.apps.panels.task_thread import import_shared
from workbench.core.config.literals import text_literal
from workbench.core.errors import WorkbenchError
from workbench.core.stored_files import free_path
from workbench.core.text import file_name
from workbench.drawing.cell import as_still
from workbench.drawing.markup import note_html

_GROUPS = {  # by name: the hint of each item by its key, which is its label, too
    "Look": {
        "page": "One HTML file, beside the notebook and in your downloads: opens offline",
        "picture": "The figure with its verdict as a PNG in your downloads",
        "cell": "Answer and figure in a cell below that survives sharing",
    },
    "Keep": {
        "bundle": "A file that wb.open reads anywhere, without model and ONNX Runtime",
        "data": "Tables as CSV, configs, scripts, a picture: a new folder, and its zip",
    },
    "Run": {
        "code": "The code that does exactly this, or plain ONNX Runtime",
        "notebook": "Everything done here, as a notebook that runs again",
        "server": "A folder with a server of one of the configs",
    },
}
_WITHOUT_ANSWER = ("code", "notebook")  # what there is without a comparison
_KINDS = {"result": "this comparison", "panels": "the panels as they are"}  # of code
_CODED = (*SUBJECT, "answer", "preview", "budget_s", "smallest_effect", "pacing_s", "clock")  # in the code


class Menu(W.PageWidget):
    """The button with its menu of actions in groups: keys move in it, Escape closes it."""

    _esm = W.static("menu.js")

    groups: t.Dict[str, Any] = t.Dict(help="by name: the hint of each item by its key").tag(sync=True)
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
        self.kind.observe(lambda _: self.refresh(), names="value")
        follow(bench.state, self.refresh, *_CODED)

    @property
    def text(self) -> str:
        """The code on the screen."""
        return self.bench.code(self.kind.value)

    def _insert(self) -> None:
        self.bench.page.insert(self.text, self.status)

    def refresh(self) -> None:
        """Offer the code of what is on the screen and a script of each config; show what would be copied."""
        scripts = {label: f"plain ORT: {label}" for label in self.bench.state.configs}
        kept, kinds = self.kind.value, {**_KINDS, **scripts}
        if tuple(kinds) != tuple(value for _, value in self.kind.options):
            self.kind.options = [(words, kind) for kind, words in kinds.items()]
            self.kind.value = kept if kept in kinds else "panels"
        with shown_in(self.status):
            self.shown.value = f'<pre class="wbp-code" tabindex="0">{escape(self.text)}</pre>'


class Share:
    """The menu; what an item opens, and what came of it, stands in `shared`."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.place = W.HTML(), W.VBox([])
        self.menu = Menu(groups=_GROUPS)
        self.menu.on_act = self.choose
        self.acts: dict[str, Callable[[], None]] = {
            "page": self._export, "picture": self._picture, "cell": self._pin, "bundle": self._save,
            "data": self._export_data, "code": self._code, "notebook": self._notebook,
            "server": lambda: setattr(self.place, "children", (self.server.widget,)),
        }  # fmt: skip
        self.shared = W.VBox([self.place, self.status], classes="wbp-shared")
        follow(self.state, lambda: setattr(self.menu, "locked", self.state.job is not None), "job")

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

    def _code(self) -> None:
        self.code.kind.value = "panels" if self.state.result is None else "result"
        self.code.refresh()
        self.place.children = (self.code.widget,)

    @property
    def name(self) -> str:
        """The name of the files: that of the model."""
        result, model = self.state.result, self.state.model
        model = model if result is None else result.record.model
        return "workbench" if model is None else file_name(model.name)

    def _pin(self) -> None:
        bundle = partial(as_still, self.state.result)
        self.bench.page.pin(self.bench.card_code("result"), bundle, self.status)

    def _picture(self) -> None:
        name, result = f"{self.name}.png", self.state.result
        self.bench.page.download_made(name, "image/png", lambda: result.still().to_png(), self.status)

    def _notebook(self) -> None:
        data = notebook_of(self.codes).encode("utf-8", "replace")
        self.bench.page.download(f"{self.name}.ipynb", "application/x-ipynb+json", data, self.status)

    @property
    def codes(self) -> list[str]:
        """The code of everything that was made here, and of an answer on the screen from elsewhere."""
        done, shown = self.state.done, self.bench.code("result")
        return [*done, *([shown] if not done or (self.state.result and shown not in done) else [])]

    def _export(self) -> None:
        """Export as a job that can be cancelled: a page with large graphs takes seconds."""
        path, result = free_path(Path(f"{self.name}.html")), self.state.result

        def work(job: Job) -> tuple[Path, bytes]:
            job.step("drawing every figure and view into one page")
            import_shared()
            return result.export_html(path, cancel=job.cancel), path.read_bytes()

        export = partial(self.bench.jobs.start, "Export HTML", work)
        self._write("Exporting…", export, "Written as {}", "text/html")

    def _export_data(self) -> None:
        """Write the tables of the result into a new folder beside the notebook, and offer them as a zip."""
        work = partial(data_of, self.state.result, Path(f"{self.name}-data"))
        export = partial(self.bench.in_background, work)
        self._write("Exporting…", export, "Written as {}, by result.export({})")

    def _save(self) -> None:
        """Save the bundle beside the notebook, and offer it as a download."""
        path, save = free_path(Path(f"{self.name}.ortbench")), self.state.result.save
        write = partial(self.bench.in_background, lambda: (save(path), path.read_bytes()))
        self._write("Saving…", write, "Saved as {}, which wb.open reads anywhere")

    def _write(
        self, doing: str, start: Callable[[Done, Failed], None], words: str, mime: str = "application/zip"
    ) -> None:
        """Start to write a file or a folder, and offer what was written."""
        self.status.value = note_html(doing)
        start(partial(self._offer, words, mime), error_to(self.status))

    def _offer(self, words: str, mime: str, written: tuple[Path, bytes]) -> None:
        """Say where a file or a folder was written, and save its copy with the browser."""
        path, data = written
        name = f"{path.name}.zip" if path.is_dir() else path.name
        place = words.format(path.absolute(), text_literal(str(path)))
        self.status.value = note_html(f"{place}.")  # also where no page answers
        self.bench.page.download(name, mime, data, self.status, before=f"{place};", fix=f"{place}.")


def data_of(result: Any, path: Path) -> tuple[Path, bytes]:
    """Export a result into the first new folder of this name; return the folder and its zip."""
    folder: Path = result.export(free_path(path))
    place = folder.absolute()
    return folder, content_of(
        lambda file: Path(make_archive(str(file), "zip", place.parent, place.name)), "data"
    )


def notebook_of(codes: list[str]) -> str:
    """Return a notebook with a cell for each code."""
    import nbformat  # loads slowly

    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    book: Any = nbformat.v4  # without types
    cells = [book.new_code_cell(code, id=f"cell-{at}") for at, code in enumerate(notebook_cells(codes), 1)]
    return str(book.writes(book.new_notebook(cells=cells, metadata=metadata)))
