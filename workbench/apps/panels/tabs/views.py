"""The five views of an answer and the mode explore; features say what stands in each.

The traces of profiles stand below where time goes: in speedscope, and as files.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.files import content_of
from workbench.apps.panels.handlers import button, error_to
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.tab import Tab
from workbench.apps.server.links import LinkButton, speedscope_link
from workbench.core.feature import Role
from workbench.core.models.sizes import free_names
from workbench.core.text import file_name
from workbench.drawing.markup import note_html


def first_for(state: BenchState) -> Role:
    """Return what tells most about a model; empty: the first offer, several sizes or values of a knob."""
    if (model := state.model) is not None and model.describe().family == "GPT-like":
        return "for generators"
    return "" if model is None or free_names(model.structure) else "for fixed sizes"


def trace_tools(bench: Bench, status: W.HTML) -> list[W.Widget]:
    """Return two buttons for each result with a trace: it in speedscope, and its trace as a file."""
    tools: list[W.Widget] = []
    kinds = (bench.state.held_parts(offer.name) for offer in WHERE_TIME_GOES.offers)
    traced = (held for parts in kinds for held in parts.items() if hasattr(held[1], "save_trace"))
    for label, profile in traced:
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


TIMING = Tab("Timing", "Compare measures both configs in turns; every run stands here.", has_limits=True)
WHERE_TIME_GOES = Tab("Where time goes", tools=trace_tools, needs_room=True)
WHAT_ORT_DID = Tab("What ORT did", needs_room=True, opens_with="explains", pills=2)
OUTPUTS = Tab("Outputs")
MEMORY_AND_START = Tab("Memory and start", "Peak memory and load time come with Compare.")
VIEWS = (TIMING, WHERE_TIME_GOES, WHAT_ORT_DID, OUTPUTS, MEMORY_AND_START)
EXPLORE = Tab("Explore", has_limits=True, first=first_for, pills=9)
