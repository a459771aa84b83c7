"""The graph view: one or two graphs as nested boxes, with linked selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import traitlets as t

from workbench.drawing.canvas.base import View
from workbench.features.explain.graph_view.making import (
    Links,
    links_of_one,
    links_of_two,
    optimized_pane,
    predicted_pane,
    source_pane,
)
from workbench.features.explain.graph_view.pane import Pane, TensorErrors
from workbench.features.explain.graph_view.payload import payload
from workbench.features.explain.graph_view.still import graph_scene
from workbench.features.explain.graph_view.words import sentence

if TYPE_CHECKING:
    from workbench.drawing.scene import Scene
    from workbench.features.explain.explanation import Explained
    from workbench.features.explain.placement.prediction import PlacementPrediction

ColorBy = Literal["provider", "time", "memory", "fate", "op", "error"]


class GraphView(View):
    """Graphs as nested boxes. `selected` holds the names of nodes, `color` what the boxes are coloured by."""

    script: ClassVar[str] = "graph"
    own_state: ClassVar[tuple[str, ...]] = ("color", "group", "side", "opened")

    color = t.Unicode("provider").tag(sync=True)
    group = t.Unicode("modules").tag(sync=True)
    side = t.Int(-1).tag(sync=True)  # the pane that `selected` was chosen in; -1: any
    opened = t.Tuple().tag(sync=True)  # paths of the boxes that are open, once a person opened or closed one

    def __init__(
        self, panes: tuple[Pane, ...], links: Links = (), *, model_name: str = "", predicted: bool = False,
        color: ColorBy = "provider", **traits: Any,
    ) -> None:  # fmt: skip
        self.panes, self.links, self.model_name = panes, links, model_name
        header, columns = payload(panes, links, predicted=predicted)
        header["model"] = model_name
        header["told"] = str(self)
        super().__init__(header, columns, color=color, **traits)

    def still(self) -> Scene:
        """Draw the outermost boxes of each graph in their order, with tensors between providers."""
        return graph_scene(self.panes, str(self))

    def __str__(self) -> str:
        return sentence(self.model_name, self.panes)


def graph_view(
    before: Explained,
    after: Explained | None = None,
    *,
    times_s: Mapping[str, float] | None = None,
    after_times_s: Mapping[str, float] | None = None,
    prediction: PlacementPrediction | None = None,
    errors: TensorErrors | None = None,
    color: ColorBy | None = None,
) -> GraphView:
    """Show source beside optimized of one config or, with `after`, A's optimized graph beside B's.

    `times_s` is the time of a run by node name, from a profile of `before`; `after_times_s` from one of
    `after`. `errors` are those of the tensors of `after`. With a `prediction` the graph is shown once, as it
    would be placed; nothing of that ran.
    """
    if prediction is not None:
        pane = predicted_pane(before, prediction)
        return GraphView((pane,), model_name=before.model_name, predicted=True, color=color or "provider")
    if after is None:
        left, right = source_pane(before), optimized_pane(before, times_s)
        links = links_of_one(before, left, right)
        return GraphView((left, right), links, model_name=before.model_name, color=color or "fate")
    left = optimized_pane(before, times_s, "A, optimized", errors)
    right = optimized_pane(after, after_times_s, "B, optimized", errors)
    links = links_of_two(before, after, left, right)
    timed = times_s is not None or after_times_s is not None
    chosen = color or ("time" if timed else "provider")
    return GraphView((left, right), links, model_name=before.model_name, color=chosen)
