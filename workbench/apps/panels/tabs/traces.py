"""Buttons above the flame view: each profile in speedscope, and its trace as a file."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.files import content_of, file_name
from workbench.apps.panels.handlers import button, error_to
from workbench.apps.panels.markup import note_html
from workbench.apps.server.links import LinkButton, speedscope_link


class TraceTools:
    """Two buttons for each profile."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.row, self.status = W.HBox([], classes="wbp-tools"), W.HTML()
        self.widget = W.VBox([self.row, self.status])
        self.links: dict[str, LinkButton] = {}
        self.buttons: dict[str, W.Button] = {}

    def refresh(self) -> None:
        """Make the buttons of the profiles that there are now; write their traces in the background."""
        profiles = self.bench.state.held_parts("profile")
        self.links = {label: LinkButton(None, f"{label} in speedscope") for label in profiles}
        self.buttons = {label: self._button(label, profile) for label, profile in profiles.items()}
        W.replace(
            self.row, *(widget for label in profiles for widget in (self.links[label], self.buttons[label]))
        )
        self.status.value = ""
        for label, profile in profiles.items():
            link = partial(speedscope_link, profile, f"{name_of(profile)}, {label}")
            self.bench.in_background(link, self.links[label].show, error_to(self.status))

    def _button(self, label: str, profile: Any) -> W.Button:
        hint = f"The profiler's trace of {label} as a file, for speedscope, Perfetto or chrome://tracing"
        return button(f"Download trace {label}", hint, partial(self._download, label, profile), self.status)

    def _download(self, label: str, profile: Any) -> None:
        name, fix = f"{file_name(name_of(profile))}-{label}.trace.json", "Open it in speedscope instead."
        self.status.value = note_html("Writing the trace…")
        trace = partial(content_of, profile.save_trace, "trace.json")
        self.bench.page.download_made(name, "application/json", trace, self.status, fix=fix)


def name_of(profile: Any) -> str:
    """Return the name of a profile's model, which a stranger may have chosen."""
    model = profile.about.model
    return model.name if model is not None else "profile"
