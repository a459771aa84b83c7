"""The mode explore: sizes, load, decoding, models, versions, threads, each a form in a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import use_button
from workbench.apps.panels.tabs.tab import Tab
from workbench.core.config import Config
from workbench.core.models.sizes import is_batch
from workbench.core.text import counted
from workbench.features.grid.axes import free_names

if TYPE_CHECKING:
    from workbench.core.models import Model
    from workbench.features.variants.threads import ThreadPoint, ThreadScalingRecord

HINT = "Put this thread count into B"


def thread_choice(bench: Bench, status: W.HTML) -> list[W.Widget]:
    """Return a button for each knee of the newest scaling, the fastest first."""
    scalings = bench.state.held_parts("thread scaling").values()
    newest = max(scalings, key=lambda scaling: scaling.about.created_utc, default=None)

    def use(point: ThreadPoint) -> W.Button:
        def config() -> Config:
            return bench.b.replace(intra_op_threads=point.threads, spinning=point.spinning)

        return use_button(bench.state, "B", HINT, config, status, f"Use {words(point)} in B")

    return [use(point) for point in (() if newest is None else knees(newest.record))]


def knees(record: ThreadScalingRecord) -> list[ThreadPoint]:
    """Return the fewest threads that are enough, with and without spinning, the fastest first."""
    points = [record.knee(spinning=spinning) for spinning in (True, False)]
    return sorted((point for point in points if point is not None), key=lambda point: point.latency_s or 0.0)


def words(point: ThreadPoint) -> str:
    """Return a thread count in words."""
    return f"{counted(point.threads, 'thread')}, {'spinning' if point.spinning else 'not spinning'}"


def first_for(model: Model | None) -> str:
    """Return what tells most about a model; empty: the first offer, several sizes or values of a knob."""
    if model is None:
        return ""
    if model.describe().family == "GPT-like":
        return "decoding"
    dims = free_names(model)
    if any(map(is_batch, dims)):
        return ""
    return "replay" if dims else "thread scaling"


EXPLORE = Tab(
    "Explore",
    "Choose what to look at: each measures all configs, or the one shown.",
    tools=thread_choice,
    has_limits=True,
    first=lambda state: first_for(state.model),
    pills=9,
)
