"""The model row: samples with their cards, a path, an upload, and what was opened in one line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ipywidgets as W

from workbench.models.samples import card, sample_names
from workbench.panels.bench import Bench
from workbench.panels.guard import shown_in
from workbench.panels.markup import error_html, text
from workbench.panels.uploads import keep
from workbench.server.button import LinkButton
from workbench.server.links import netron_link
from workbench.text import bytes_text

MOST_OFFERED = 40  # paths that complete what was typed


class ModelRow:
    """Picks a model and says what it is."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        names = [
            (f"{one} ({card(one).family}, {bytes_text(card(one).bytes)})", one) for one in sample_names()
        ]
        self.samples = W.Dropdown(
            options=[("pick a sample…", ""), *names], value="", description="model",
            tooltip="Models that come along: real architectures, small trained nets; nothing is downloaded",
        )  # fmt: skip
        self.path = W.Combobox(
            placeholder="or a path, a URL, hf://org/repo/file.onnx", continuous_update=True,
            tooltip="A file here, a URL or a file of a model hub. Recent ones and folders are offered.",
        )  # fmt: skip
        self.open = W.Button(description="Open", tooltip="Open the model at this path or URL")
        self.upload = W.FileUpload(
            accept=".onnx,.ort,.data,.bin", multiple=True, description="Upload",
            tooltip="A model from your computer, with its data files where it has any. Large ones: by path.",
        )  # fmt: skip
        for button in (self.open, self.upload):
            button.add_class("wbp-small")
        self.status, self.headline = W.HTML(), W.HTML()
        self.netron = LinkButton(None, "Netron")
        self.showing, self.linked = False, None
        row = W.HBox([self.samples, self.path, self.open, self.upload, self.netron])
        row.add_class("wbp-model-row")
        self.widget = W.VBox([row, self.headline, self.status])
        self.widget.add_class("wbp-model")
        self.samples.observe(self._picked, names="value")
        self.path.observe(lambda change: self._complete(change["new"]), names="value")
        self.open.on_click(lambda _: self.load(self.path.value.strip()))
        self.upload.observe(lambda change: self._uploaded(change["new"]), names="value")
        self.state.observe(self._show, names=["model", "model_error", "opening"])
        self._complete("")
        self._show()

    def _picked(self, change: dict[str, str]) -> None:
        if change["new"] and not self.showing:
            self.load(change["new"])

    def load(self, source: str) -> None:
        """Open a model by its name, path or URL."""
        with shown_in(self.status):
            if source:
                self.bench.load(source)

    def _complete(self, typed: str) -> None:
        """Offer what was open before, and what lies where the path points."""
        with shown_in(self.status):
            self.path.options = (*self.state.recent, *completions(typed))

    def _uploaded(self, files: tuple[Any, ...]) -> None:
        if files:
            with shown_in(self.status):
                self.bench.load(str(keep(files)))
            self.upload.value = ()

    def _show(self, _: object = None) -> None:
        state = self.state
        if state.opening is not None:
            self.status.value = f'<div class="wbp-note" role="status">⏳ {text(state.opening.doing)}…</div>'
        else:
            self.status.value = error_html(state.model_error) if state.model_error else ""
        self.showing = True
        self.samples.value = state.source if state.source in sample_names() else ""
        self.showing = False
        self.headline.value = headline(state)
        if state.model is not None and state.model is not self.linked:
            self.linked = state.model
            self.bench.drawer.post(lambda: self._link(state.model))

    def _link(self, model: Any) -> None:
        """Lay the file out for Netron: aside, since a large one is written anew."""
        link = netron_link(model)
        self.bench.painter.post(lambda: self.netron.show(link))


def headline(state: Any) -> str:
    """What is open, in one line; what is known of it and of a sample's origin, folded."""
    if state.model is None:
        return '<div class="wbp-headline">No model is open yet.</div>'
    told = state.model.describe()
    rows = [*told.rows(), *(card_rows(state.source) if state.source in sample_names() else ())]
    cells = "".join(f"<tr><th>{text(name)}</th><td>{text(value)}</td></tr>" for name, value in rows)
    problems = "".join(f'<div class="wbp-error">⚠ {text(problem)}</div>' for problem in told.problems)
    return (
        f'<details class="wbp-headline"><summary><b>{text(told.name, 80)}</b> {text(told.headline)}</summary>'
        f'<table class="wbp-card-table">{cells}</table></details>{problems}'
    )


def card_rows(name: str) -> tuple[tuple[str, str], ...]:
    """What a sample is, where it is from, and which of its numbers are real."""
    one = card(name)
    return (("sample", one.what), ("teaches", one.teaches), ("real", one.real), ("origin", one.origin),
            ("licence", one.licence), ("made by", one.remake))  # fmt: skip


def completions(typed: str) -> tuple[str, ...]:
    """Folders and models whose path begins with what was typed."""
    if "://" in typed or "\0" in typed:
        return ()
    whole = Path(typed or ".").expanduser()
    folder, start = (whole, "") if typed.endswith("/") or not typed else (whole.parent, whole.name)
    try:
        entries = sorted(entry for entry in folder.iterdir() if entry.name.startswith(start))
    except OSError:
        return ()  # no such folder yet: nothing to offer while somebody types
    shown = [
        f"{entry}/" if entry.is_dir() else str(entry)
        for entry in entries
        if (entry.is_dir() and not entry.name.startswith(".")) or entry.suffix in (".onnx", ".ort")
    ]
    return tuple(shown[:MOST_OFFERED])
