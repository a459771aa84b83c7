"""The mode explore: sizes, load, decoding, models, versions, threads, each a form in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.apps.panels.tabs.tab import Tab
from workbench.apps.panels.tabs.thread_choice import ThreadChoice
from workbench.core.models.sizes import is_batch
from workbench.features.grid.axes import free_names

if TYPE_CHECKING:
    from workbench.core.models import Model


def first_for(model: Model | None) -> str:
    """Return what tells most about a model: decoding of a language model, sizes where they are free."""
    if model is None:
        return "sweep"
    if model.describe().family == "GPT-like":
        return "decoding"
    dims = free_names(model)
    if any(map(is_batch, dims)):
        return "sweep"
    return "replay" if dims else "thread scaling"


EXPLORE = Tab(
    "Explore",
    "Choose what to look at: each measures all configs, or the one shown.",
    tools=(ThreadChoice,),
    has_limits=True,
    first=lambda state: first_for(state.model),
    pills=9,
)
