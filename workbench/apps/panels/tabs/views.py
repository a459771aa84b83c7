"""The five views of an answer and the mode explore; features say what stands in each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.apps.panels.tabs.tab import Tab
from workbench.apps.panels.tabs.traces import trace_tools
from workbench.core.models.sizes import free_names, is_batch

if TYPE_CHECKING:
    from workbench.core.models import Model


def first_for(model: Model | None) -> str:
    """Return what tells most about a model; empty: the first offer, several sizes or values of a knob."""
    if model is None:
        return ""
    if model.describe().family == "GPT-like":
        return "decoding"
    dims = free_names(model.structure)
    if any(map(is_batch, dims)):
        return ""
    return "replay" if dims else "thread scaling"


TIMING = Tab("Timing", "Compare measures both configs in turns; every run stands here.", has_limits=True)
WHERE_TIME_GOES = Tab("Where time goes", tools=trace_tools, needs_room=True)
WHAT_ORT_DID = Tab("What ORT did", needs_room=True, opens_with="explanation", pills=2)
OUTPUTS = Tab("Outputs")
MEMORY_AND_START = Tab("Memory and start", "Peak memory and load time come with Compare.")
VIEWS = (TIMING, WHERE_TIME_GOES, WHAT_ORT_DID, OUTPUTS, MEMORY_AND_START)
EXPLORE = Tab(
    "Explore",
    "Choose what to look at: each measures all configs, or the one shown.",
    has_limits=True,
    first=lambda state: first_for(state.model),
    pills=9,
)
