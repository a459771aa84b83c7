"""The traces of profiles: in speedscope, and as files."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.files import content_of
from workbench.apps.panels.handlers import button, error_to
from workbench.apps.server.links import LinkButton, speedscope_link
from workbench.core.text import file_name
from workbench.drawing.markup import note_html


def trace_tools(bench: Bench, status: W.HTML) -> list[W.Widget]:
    """Return two buttons for each profile: it in speedscope, and its trace as a file."""
    tools: list[W.Widget] = []
    for label, profile in bench.state.held_parts("profile").items():
        link = LinkButton(None, f"{label} in speedscope")
        write = partial(speedscope_link, profile, f"{profile.subject}, {label}")
        bench.in_background(write, link.show, error_to(status))
        hint = f"The profiler's trace of {label} as a file, for speedscope, Perfetto or chrome://tracing"
        download = partial(download_trace, bench, label, profile, status)
        tools += [link, button(f"Download trace {label}", hint, download, status)]
    return tools


def download_trace(bench: Bench, label: str, profile: Any, status: W.HTML) -> None:
    """Write a trace in the background, and save it with the browser."""
    name, fix = f"{file_name(profile.subject)}-{label}.trace.json", "Open it in speedscope instead."
    status.value = note_html("Writing the trace…")
    trace = partial(content_of, profile.save_trace, "trace.json")
    bench.page.download_made(name, "application/json", trace, status, fix=fix)
