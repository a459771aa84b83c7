"""The graph view: one or two graphs as nested boxes, with linked selection."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal

import traitlets as t

from workbench.drawing.canvas.base import View
from workbench.drawing.scene import Scene
from workbench.features.explain.explanation import Explained
from workbench.features.explain.graph_view.making import (
    Links,
    links_of_one,
    links_of_two,
    optimized_pane,
    predicted_pane,
    source_pane,
)
from workbench.features.explain.graph_view.pane import Pane, TensorErrors
from workbench.features.explain.graph_view.payload import payload, sentence
from workbench.features.explain.graph_view.still import graph_scene
from workbench.features.explain.graph_view.tree import tree_of
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


MOST_BETWEEN = 6  # between two of the nodes: what stands there belongs to the pattern
_MOST_NODES = 60


def matched_view(explained: Explained, nodes: Collection[str]) -> GraphView | None:
    """Show source nodes with what stands between them, beside what does their work; None if none is there."""
    before, after = source_pane(explained), optimized_pane(explained)
    links = links_of_one(explained, before, after)
    wanted = {index for index, row in enumerate(before.rows) if row.kind == "node" and row.node in nodes}
    kept = sorted(wanted | _between(before, wanted))[:_MOST_NODES]
    if not kept:
        return None
    first = {index: number for number, index in enumerate(kept)}
    ends = sorted({end for start, end in links if start in first})
    second = {index: number for number, index in enumerate(ends)}
    return GraphView(
        (_cut(before, first), _cut(after, second)),
        tuple((first[start], second[end]) for start, end in links if start in first),
        model_name=explained.model_name,
        color="fate",
        height_px=120,
    )


def _between(pane: Pane, wanted: set[int]) -> set[int]:
    down = _reached(wanted, ((wire.source, wire.target) for wire in pane.wires))
    up = _reached(wanted, ((wire.target, wire.source) for wire in pane.wires))
    return {index for index in down & up if pane.rows[index].kind == "node"}


def _reached(start: set[int], wires: Iterable[tuple[int, int]]) -> set[int]:
    """Return what a few steps along the wires lead to."""
    ends: dict[int, list[int]] = {}
    for source, target in wires:
        ends.setdefault(source, []).append(target)
    reached, near = set(start), set(start)
    for _ in range(MOST_BETWEEN):
        near = {target for source in near for target in ends.get(source, ())} - reached
        reached |= near
    return reached


def _cut(pane: Pane, place: dict[int, int]) -> Pane:
    """Return the rows with a place, and the wires between them."""
    wires = tuple(
        replace(wire, source=place[wire.source], target=place[wire.target], hub=False)
        for wire in pane.wires
        if wire.source in place and wire.target in place
    )
    rows = tuple(pane.rows[index] for index in place)
    return replace(pane, rows=rows, wires=wires, modules=tree_of([()] * len(rows)), partitions=None)
