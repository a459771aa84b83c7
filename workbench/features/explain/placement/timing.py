"""A profile's times and sizes, put to the nodes, partitions and boundaries of a placement."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from workbench.features.explain.graph import Graph
from workbench.features.explain.placement.partitions import with_sizes
from workbench.features.explain.placement.records import CompiledPart, Placement, UnmatchedTime
from workbench.features.profile.flops.shapes import traced_shapes
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.trace import EventKind, node_name

_NUMBER = re.compile(r"\d+")


def _event_times(profile: SessionProfile) -> tuple[UnmatchedTime, ...]:
    """Return the own time in a run of each node and compiled part, in the order in which they first ran."""
    steady, times_s = profile.steady, profile.node_times_s()
    providers: dict[str, str | None] = {}
    nodes = [int(event) for event in steady.events if steady.tree.kind[event] == EventKind.NODE]
    for event in sorted(nodes, key=lambda event: float(steady.trace.start_us[event])):
        call = steady.trace.call_of(event)
        providers.setdefault(node_name(steady.trace.name_of(event)), call.provider if call else None)
    return tuple(UnmatchedTime(name, provider, times_s[name]) for name, provider in providers.items())


def with_profile(placement: Placement, graph: Graph, profile: SessionProfile) -> Placement:
    """Return the placement with times of nodes and compiled parts, and sizes of what crossed."""
    counts = Counter(node.name for node in graph.nodes)  # several nodes of one name cannot be told apart
    keys = {node.name: node.key for node in graph.nodes if counts[node.name] == 1}
    events = _event_times(profile)
    times_s = {keys[timed.name]: timed.time_s for timed in events if timed.name in keys}
    others = [timed for timed in events if timed.name not in keys]
    compiled = _compiled(placement.compiled, others)
    return replace(
        placement,
        nodes=tuple(replace(node, time_s=times_s.get(node.node)) for node in placement.nodes),
        compiled=tuple(
            replace(part, time_s=compiled[index].time_s if index in compiled else None)
            for index, part in enumerate(placement.compiled)
        ),
        boundaries=with_sizes(placement.boundaries, sizes_of(graph, profile)),
        unplaced=tuple(timed for timed in others if timed not in compiled.values()),
        profiled=True,
    )


def _compiled(parts: tuple[CompiledPart, ...], others: Iterable[UnmatchedTime]) -> dict[int, UnmatchedTime]:
    """Join events to compiled parts: both are in the order in which the provider compiled them."""
    times_of: dict[int, UnmatchedTime] = {}
    for provider in dict.fromkeys(part.provider for part in parts):
        mine = [index for index, part in enumerate(parts) if part.provider == provider]
        ran = [timed for timed in others if timed.provider == provider]
        if len(ran) == len(mine):
            numbers = [tuple(int(text) for text in _NUMBER.findall(timed.name)[-1:]) for timed in ran]
            if len({*numbers}) == len(ran) and all(numbers):
                ran = [timed for _, timed in sorted(zip(numbers, ran, strict=True), key=lambda pair: pair[0])]
            times_of |= zip(mine, ran, strict=True)
    return times_of


def sizes_of(graph: Graph, profile: SessionProfile) -> dict[str, int]:
    """Return the bytes of the tensors that nodes read and made in their last call, by name."""
    nodes = {node.name: (node.inputs, node.outputs) for node in graph.nodes}
    shapes = traced_shapes(profile.measured, nodes, graph.constants)
    return {name: size for name, shape in shapes.items() if (size := shape.size_bytes) is not None}
