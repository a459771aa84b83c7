"""ORT's own record of placement, which names nodes after the basic level, carried to the other graphs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from workbench.core.models.graph import Graph
from workbench.features.explain.observe import KERNELS, Observation
from workbench.features.explain.placement.records import (
    CompiledPart,
    PlacedNode,
    Placement,
    UnmatchedTime,
    boundaries,
    partitions,
    with_sizes,
)
from workbench.features.explain.provenance.account import Account, carried
from workbench.features.explain.provenance.step import PassStep
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
    events, nodes = _event_times(profile), graph.by_name
    times_s = {nodes[timed.name].key: timed.time_s for timed in events if timed.name in nodes}
    others = [timed for timed in events if timed.name not in nodes]
    compiled = _times_of_parts(placement.compiled, others)
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


def _times_of_parts(
    parts: tuple[CompiledPart, ...], others: Iterable[UnmatchedTime]
) -> dict[int, UnmatchedTime]:
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
    shapes = traced_shapes(graph, profile.measured)
    return {name: size for name, shape in shapes.items() if (size := shape.size_bytes) is not None}


# Nodes that ORT puts between partitions, types and layouts: shown apart, since no model asks for them.
TRANSFER = frozenset({"MemcpyFromHost", "MemcpyToHost", "Cast", "ReorderInput", "ReorderOutput"})
_QUOTES = r"[\s\[\]'\"`:,;()]"
_LISTED = re.compile(r"Op type: (\S+)|OpType[: ]+(\S+)|Operator type: \[(\S+?)\]")


def place(
    observation: Observation, requested: tuple[str, ...], account: Account, steps: Sequence[PassStep]
) -> Placement:
    """Join ORT's record to the optimized graph, through the passes that ran after it was taken."""
    graph = observation.final
    providers = _providers(observation, steps)
    compiled = _compiled(observation, graph)
    part_of = {key: f"{part.provider} {number}" for number, part in enumerate(compiled) for key in part.nodes}
    partition = partitions(graph, providers | part_of)
    not_loaded = _not_loaded(observation, requested)
    carriers = {node.node for node in account.optimized if node.inserted or not node.sources}
    reasons = _reasons(graph, providers, requested, dict(not_loaded), observation.left)
    return Placement(
        nodes=tuple(
            PlacedNode(
                node.key, node.kind, providers[node.key], partition[node.key],
                inserted=node.op_type in TRANSFER and node.key in carriers,
                reason=reasons.get(node.key),
            )
            for node in graph.nodes
        ),
        boundaries=boundaries(graph, providers, partition),
        sources=tuple(
            (source.node, _common(providers[key] for key in source.into)) for source in account.sources
        ),
        requested=requested,
        in_effect=observation.providers,
        not_loaded=not_loaded,
        of_basic_graph=not observation.final_saved,
        compiled=compiled,
    )  # fmt: skip


def _compiled(observation: Observation, graph: Graph) -> tuple[CompiledPart, ...]:
    """Return the compiled parts as ORT recorded them, in the order in which they were compiled."""
    if observation.final_saved:
        return ()
    known = graph.by_name
    return tuple(
        CompiledPart(provider, tuple(known[name].key for name, _, _ in nodes if name in known))
        for provider, nodes in observation.assignment
        if provider not in KERNELS
    )


def _reasons(
    graph: Graph,
    providers: Mapping[str, str | None],
    requested: Sequence[str],
    not_loaded: Mapping[str, str],
    left: Iterable[str],
) -> dict[str, str]:
    """Return why a node did not get the first provider, in the words of ORT and providers about such nodes.

    A node on the first provider, or on a provider that is not known, has no reason.
    """
    if not requested:
        return {}
    first = requested[0]
    by_name: dict[str, str] = {}
    by_op: dict[str, str] = {}
    for text in left:
        for word in filter(None, re.split(_QUOTES, text)):
            by_name.setdefault(word, text)
        if match := _LISTED.search(text):
            by_op.setdefault(next(word for word in match.groups() if word), text)
    general = f"{first} did not take it, and neither it nor ORT says why"
    if first in not_loaded:
        by_name, by_op = {}, {}
        general = f"{first} did not load: {not_loaded[first].splitlines()[0]}"
    return {
        node.key: by_name.get(node.name) or by_op.get(node.op_type) or general
        for node in graph.nodes
        if providers[node.key] not in (first, None)
    }


def _providers(observation: Observation, steps: Sequence[PassStep]) -> dict[str, str | None]:
    """Return the provider of each optimized node; None where the record does not tell."""
    graph = observation.final
    if len(observation.providers) == 1:  # there is nowhere else to run
        return dict.fromkeys((node.key for node in graph.nodes), observation.providers[0])
    basic = max((i for i, shot in enumerate(observation.chain) if shot.level <= 1), default=-1)
    start, recorded = observation.basic, _recorded(observation)
    providers: dict[str, str | None] = {}
    for key, origins in carried(start, steps[basic + 1 :]).items():
        place = _common(recorded.get(start.by_key[origin].name) for origin in origins)
        providers[key] = place or recorded.get(graph.by_key[key].name)
    _settle_transfers(graph, providers)
    return providers


def _common(providers: Iterable[str | None]) -> str | None:
    """Return the provider that all known entries agree on, or None."""
    known = set(providers) - {None}
    return known.pop() if len(known) == 1 else None


def _recorded(observation: Observation) -> dict[str, str | None]:
    """Return the recorded provider by node name; None for a repeated name whose entries disagree."""
    recorded: dict[str, set[str]] = {}
    for provider, nodes in observation.assignment:
        for name, _, _ in nodes:
            recorded.setdefault(name, set()).add(provider)
    return {name: _common(providers) for name, providers in recorded.items()}


def _settle_transfers(graph: Graph, providers: dict[str, str | None]) -> None:
    """Give a node that ORT inserted after its record the provider of the nodes that read it."""
    for node in reversed(graph.nodes):
        if providers[node.key] is None:
            providers[node.key] = _common(providers[reader.key] for reader in graph.readers_of(node))


def _not_loaded(observation: Observation, requested: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    rows = []
    for name in (name for name in requested if name not in observation.providers):
        short = name.removesuffix("ExecutionProvider")
        messages = [line for line in observation.warnings if short.casefold() in line.casefold()]
        rows.append((name, "\n".join(messages) or "ORT left it out without a word"))
    return tuple(rows)
