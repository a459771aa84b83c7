"""The model row: samples with their cards, a path, an upload, and a headline of the open model."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.files import keep
from workbench.apps.panels.handlers import button, error_to, follow, guarded, on_change, own_changes
from workbench.apps.panels.markup import error_html
from workbench.apps.server.links import LinkButton, netron_link
from workbench.core.html_table import facts_table
from workbench.core.models.loading import SUFFIXES
from workbench.core.models.samples import card, sample_names
from workbench.core.stored_files import expanded
from workbench.core.text import bytes_text, one_line
from workbench.drawing.markup import text

_MOST_LETTERS = 40  # of a model's name
MOST_OFFERED = 40  # paths that complete a typed one


class ModelRow:
    """Opens a model and says what it is."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.samples = W.Dropdown(
            options=offered(self.state), value="", description="model",
            tooltip="Models that come along: real architectures, small trained nets; nothing is downloaded",
        )  # fmt: skip
        self.path = W.Combobox(
            placeholder="a path, a URL, hf://org/repo/file.onnx", continuous_update=True,
            tooltip="A file here, a URL or a file of a model hub. Recent ones and folders are offered.",
        )  # fmt: skip
        self.upload = W.FileUpload(
            accept=".onnx,.ort,.data,.bin", multiple=True, description="Upload",
            tooltip="A model from your computer, with its data files if it has any. Large ones: by path.",
            classes="wbp-small",
        )  # fmt: skip
        self.status, self.headline = W.HTML(), W.HTML()
        hint = "Open a file, a URL or a file of a model hub; or drop a file on the panels"
        self.more = button("Open…", hint, self._unfold, self.status)
        self.open = button("Open", "Open this path or URL", lambda: self.load(self.path.value), self.status)
        self.netron = LinkButton(None, "Netron")
        self.linked: Any = None  # the model that the Netron button opens
        self.opening = W.HBox([self.path, self.open, self.upload, self.netron], classes="wbp-opening")
        W.set_shown(self.opening, False)
        row = W.HBox([self.samples, self.headline, self.more, self.opening], classes="wbp-model-row")
        self.widget = W.VBox([row, self.status], classes="wbp-model")
        on_change(self.samples, self.load, status=self.status)
        on_change(self.path, self._complete, status=self.status)
        on_change(self.upload, self._uploaded, status=self.status)
        bench.page.bridge.on["open"] = guarded(self.load, self.status)
        bench.page.bridge.on["files"] = guarded(self._keep, self.status)
        self._complete("")
        follow(self.state, self._show, "model", "model_error", "opening")

    def load(self, source: str) -> None:
        """Open a model by its name, path or URL."""
        if source.strip():
            self.bench.load(source.strip())

    def _unfold(self) -> None:
        """Show the field for a path, with the focus in it, or hide it again."""
        opens = self.opening.layout.display == "none"
        W.set_shown(self.opening, opens)
        if opens:
            self.path.focus()

    def _keep(self, files: tuple[Mapping[str, Any], ...]) -> None:
        """Open a model that a person dropped or uploaded, with its data files."""
        self.bench.load(str(keep(files)))

    def _complete(self, typed: str) -> None:
        """Offer recent models, and the folders and models at the typed path."""
        self.path.options = (*self.state.recent, *completions(typed))

    def _uploaded(self, files: tuple[Any, ...]) -> None:
        with own_changes():
            self.upload.value = ()
        if files:
            self._keep(files)

    def _show(self) -> None:
        state = self.state
        if state.opening is not None:
            self.status.value = f'<div class="wbp-note" role="status">⏳ {text(state.opening.doing)}…</div>'
        else:
            self.status.value = error_html(state.model_error) if state.model_error else ""
        with own_changes():
            self.samples.options = offered(state)
            if state.opening is None:
                self.samples.value = ""
        self.headline.value = headline(state)
        if state.model is not None and state.model is not self.linked:
            W.set_shown(self.opening, False)
            self.path.value, self.linked = "", state.model
            link = partial(netron_link, state.model)  # a large model is written anew
            self.bench.in_background(link, self.netron.show, error_to(self.status), light=True)


def offered(state: Any) -> list[tuple[str, str]]:
    """Return the samples, and first the name of the model that is open."""
    first = "pick a model…" if state.model is None else one_line(state.model.name, _MOST_LETTERS)
    cards = {name: card(name) for name in sample_names()}
    names = [(f"{name} ({it.family}, {bytes_text(it.bytes)})", name) for name, it in cards.items()]
    return [(first, ""), *names]


def headline(state: Any) -> str:
    """Return the open model in one line, with its description and its sample's card folded."""
    if state.model is None:
        return '<div class="wbp-headline">No model is open yet.</div>'
    description = state.model.describe()
    rows = [*description.rows(), *(card(state.source).rows() if state.source in sample_names() else ())]
    problems = "".join(f'<div class="wbp-error">⚠ {text(problem)}</div>' for problem in description.problems)
    summary = f"<summary><b>{text(description.name, 80)}</b> {text(description.headline)}</summary>"
    facts = facts_table(rows, kind="wbp-description")
    return f'<details class="wbp-headline">{summary}{facts}</details>{problems}'


def completions(typed: str) -> tuple[str, ...]:
    """Return the folders and models whose path begins with the typed text."""
    if "://" in typed or "\0" in typed:
        return ()
    try:
        path = expanded(typed or ".")
        folder, start = (path, "") if typed.endswith("/") or not typed else (path.parent, path.name)
        entries = sorted(entry for entry in folder.iterdir() if entry.name.startswith(start))
    except OSError:
        return ()  # no such folder yet: nothing to offer while somebody types
    paths = [
        f"{entry}/" if entry.is_dir() else str(entry)
        for entry in entries
        if (entry.is_dir() and not entry.name.startswith(".")) or entry.suffix in SUFFIXES
    ]
    return tuple(paths[:MOST_OFFERED])
