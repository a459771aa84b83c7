"""A few nodes of a graph before and after ORT's passes, such as those of one fusion."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from workbench.features.explain.explanation import Explained
from workbench.features.explain.graph_view.making import links_of_one, optimized_pane, source_pane
from workbench.features.explain.graph_view.pane import Pane
from workbench.features.explain.graph_view.tree import tree_of
from workbench.features.explain.graph_view.view import GraphView

MOST_STEPS = 6  # between two of the nodes: what stands there belongs to the pattern
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
    for _ in range(MOST_STEPS):
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
