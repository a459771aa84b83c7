"""The mode explore: sizes, load, decoding, models, versions, threads, each a form in a sentence."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.handlers import button
from workbench.apps.panels.markup import note_html
from workbench.apps.panels.tabs.tab import Tab
from workbench.core.models.sizes import is_batch
from workbench.core.text import counted
from workbench.features.grid.axes import free_names

if TYPE_CHECKING:
    from workbench.core.models import Model
    from workbench.features.variants.threads import ThreadPoint, ThreadScalingRecord

HINT = "Put this thread count into B"


class ThreadChoice:
    """A button for each knee of the newest scaling, the fastest first."""

    def __init__(self, bench: Bench) -> None:
        self.bench, self.state = bench, bench.state
        self.status, self.row = W.HTML(), W.HBox([], classes="wbp-tools")
        self.widget = W.VBox([self.row, self.status])

    def refresh(self) -> None:
        """Make the buttons of the scaling that there is now."""
        scalings = self.state.held_parts("thread scaling").values()
        newest = max(scalings, key=lambda scaling: scaling.about.created_utc, default=None)
        points = knees(newest.record) if newest is not None else []
        self.status.value = ""
        uses = (
            button(f"Use {words(point)} in B", HINT, partial(self._use, point), self.status)
            for point in points
        )
        W.replace(self.row, *uses)

    def _use(self, point: ThreadPoint) -> None:
        self.bench.b = self.bench.b.replace(intra_op_threads=point.threads, spinning=point.spinning)
        self.status.value = note_html(f"B has {words(point)}. Press Compare to measure it against A.")


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
    tools=(ThreadChoice,),
    has_limits=True,
    first=lambda state: first_for(state.model),
    pills=9,
)
