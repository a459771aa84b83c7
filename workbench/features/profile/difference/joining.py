"""Join the nodes of a profile with an explanation: their names, and the source nodes that they come from.

ORT numbers inserted nodes anew in every session. A reorder that one session calls `ReorderOutput_token_299`
another calls `ReorderOutput_token_293`. What a node computes is the same: tensors of the source graph keep
their names, the others follow from their makers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from workbench.features.explain.explanation import Explained
from workbench.features.explain.graph import Graph, read_graph
from workbench.features.explain.provenance.step import trace_step
from workbench.features.profile.session_profile import SessionProfile

_ADDED = ("_nchwc", "_nhwc")  # to a tensor's name when its layout changes
_EVENT = "_kernel_time"


def in_the_names_of(explained: Explained, profile: SessionProfile) -> SessionProfile:
    """Return the profile with the explanation's node names; the same object where none differs."""
    if profile.optimized is None:
        return profile
    names = same_nodes(read_graph(profile.optimized), explained.optimized, explained.source)
    changed = {old: new for old, new in names.items() if old != new}
    if not changed:
        return profile
    graph = type(profile.optimized)()
    graph.CopyFrom(profile.optimized)
    for node in graph.graph.node:  # ORT inserts nothing into bodies that it would number
        node.name = changed.get(node.name, node.name)
    events = {old + _EVENT: new + _EVENT for old, new in changed.items()}
    trace = replace(profile.trace, names=tuple(events.get(name, name) for name in profile.trace.names))
    return profile.with_trace(
        trace, graph, {changed.get(name, name): scope for name, scope in profile.scopes.items()}
    )


def same_nodes(ran: Graph, explained: Graph, source: Graph) -> dict[str, str]:
    """Map names in one session's graph to names in the other's; unchanged where they cannot be joined."""
    of_profile, of_explained = _meanings(ran, source), _meanings(explained, source)
    names = {meaning: name for name, meaning in of_explained.items()}
    unique = len(names) == len(of_explained) and len(set(of_profile.values())) == len(of_profile)
    if not unique or set(names) != set(of_profile.values()):
        return {name: name for name in of_profile}  # another graph, so names are the only join
    return {name: names[meaning] for name, meaning in of_profile.items()}


def _meanings(graph: Graph, source: Graph) -> dict[str, tuple[object, ...]]:
    """Return by name what a node is and what it makes."""
    meaning: dict[str, object] = {}
    meanings: dict[str, tuple[object, ...]] = {}
    for node in graph.nodes:
        taken = tuple(meaning.get(name, name) for name in node.inputs)
        for index, name in enumerate(node.outputs):
            meaning[name] = name if _stable(name, source) else hash((node.kind, node.digest, taken, index))
        made = tuple(meaning[name] for name in node.outputs)
        meanings[node.name] = (node.kind, node.scope, made, hash(taken))
    return meanings


def _stable(name: str, source: Graph) -> bool:
    for ending in _ADDED:
        name = name.removesuffix(ending)
    return name in source.tensors


def ancestors(explained: Explained, ran: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the source nodes of each executed node, by its name in the profile; none if not traced."""
    names = {node.key: node.name for node in explained.optimized.nodes}
    traced: dict[str, frozenset[str]] = {}
    for row in explained.provenance.account.optimized:
        name = names.get(row.node, row.node)
        traced[name] = traced.get(name, frozenset()) | frozenset(row.sources)
    return {name: traced.get(name, frozenset()) for name in ran}


def inserted(explained: Explained) -> frozenset[str]:
    """Return the nodes that ORT inserted to carry a value: reorders, copies, casts."""
    names = {node.key: node.name for node in explained.optimized.nodes}
    return frozenset(
        names.get(row.node, row.node) for row in explained.provenance.account.optimized if row.inserted
    )


def as_nodes_of_a(a: Explained, b: Explained, of_b: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return B's ancestors as nodes of A's source graph, where B loaded another file."""
    known = {node.key for node in a.source.nodes}
    if {node.key for node in b.source.nodes} == known:
        return of_b
    made_of = trace_step(a.source, b.source).sources
    return {
        name: frozenset(origin for source in sources for origin in made_of.get(source, frozenset()))
        for name, sources in of_b.items()
    }
