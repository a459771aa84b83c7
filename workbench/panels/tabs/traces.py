"""What stands above the flame views: each profile in speedscope, and its trace as a file."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import ipywidgets as W

from workbench.errors import WorkbenchError
from workbench.panels.bench import Bench
from workbench.panels.markup import error_html, note_html
from workbench.panels.tabs.naming import file_name
from workbench.panels.tabs.parts import parts
from workbench.server.button import LinkButton
from workbench.server.links import speedscope_link
from workbench.worker.folder import WorkerFolder


class TraceTools:
    """Two buttons a profile; nothing before there is one."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.row, self.status = W.HBox([]), W.HTML()
        self.row.add_class("wbp-offers")
        self.widget = W.VBox([self.row, self.status])
        self.links: dict[str, LinkButton] = {}
        self.buttons: dict[str, W.Button] = {}

    def refresh(self) -> None:
        """Buttons for the profiles that are there now. Traces are laid out aside, after the figures."""
        profiles = parts(self.bench, "profile")
        self.links = {label: LinkButton(None, f"{label} in speedscope") for label in profiles}
        self.buttons = {label: self._button(label, one) for label, one in profiles.items()}
        self.row.children = [one for label in profiles for one in (self.links[label], self.buttons[label])]
        self.status.value = ""
        for label, one in profiles.items():
            self._aside(partial(self._link, label, one, self.links[label]))

    def _button(self, label: str, profile: Any) -> W.Button:
        hint = f"The profiler's trace of {label} as a file, for speedscope, Perfetto or chrome://tracing"
        button = W.Button(description=f"Download trace {label}", tooltip=hint)
        button.add_class("wbp-small")
        button.on_click(lambda _: self._start(label, profile))
        return button

    def _start(self, label: str, profile: Any) -> None:
        self.status.value = note_html("Writing the trace…")
        self._aside(partial(self._download, label, profile))

    def _link(self, label: str, profile: Any, button: LinkButton) -> None:
        link = speedscope_link(profile, f"{name_of(profile)}, {label}")
        self.bench.painter.post(lambda: button.show(link))

    def _download(self, label: str, profile: Any) -> None:
        with WorkerFolder() as folder:
            data = profile.save_trace(folder / "trace.json").read_bytes()
        name = f"{file_name(name_of(profile))}-{label}.trace.json"
        self.bench.page.download(
            name, "application/json", data, self.status, fix="Open it in speedscope instead."
        )

    def _aside(self, act: Callable[[], None]) -> None:
        def run() -> None:
            try:
                act()
            except WorkbenchError as error:
                told = error_html(error)
                self.bench.painter.post(lambda: setattr(self.status, "value", told))

        self.bench.drawer.post(run)


def name_of(profile: Any) -> str:
    """Of its model; a stranger's text."""
    model = profile.about.model
    return model.name if model is not None else "profile"
