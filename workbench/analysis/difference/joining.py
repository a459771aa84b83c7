"""A profile in the names of an explanation: ORT numbers what it inserts anew in every session.

A reorder that one session calls `ReorderOutput_token_299` another calls `ReorderOutput_token_293`. What a
node computes is the same: tensors of the source graph keep their names, the others follow from their makers.
"""

from __future__ import annotations

from dataclasses import replace

from workbench.analysis.explanation import Explained
from workbench.analysis.graph import Graph, read_graph
from workbench.analysis.profile.profile import Profile

_ADDED = ("_nchwc", "_nhwc")  # to a tensor's name when its layout changes
_EVENT = "_kernel_time"


def in_the_names_of(explained: Explained, profile: Profile) -> Profile:
    """The same profile, its nodes called as in the explanation's graph; itself where nothing differs."""
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
    """From names in one session's graph to names in the other's; as they are where that cannot be settled."""
    mine, theirs = _meanings(ran, source), _meanings(explained, source)
    back = {meaning: name for name, meaning in theirs.items()}
    unique = len(back) == len(theirs) and len(set(mine.values())) == len(mine)
    if not unique or set(back) != set(mine.values()):
        return {name: name for name in mine}  # not the same graph: names are all there is
    return {name: back[meaning] for name, meaning in mine.items()}


def _meanings(graph: Graph, source: Graph) -> dict[str, tuple[object, ...]]:
    """By the name of a node: what it is and what it makes."""
    meaning: dict[str, object] = {}
    found: dict[str, tuple[object, ...]] = {}
    for node in graph.nodes:
        taken = tuple(meaning.get(name, name) for name in node.inputs)
        for index, name in enumerate(node.outputs):
            meaning[name] = name if _stable(name, source) else hash((node.kind, node.digest, taken, index))
        made = tuple(meaning[name] for name in node.outputs)
        found[node.name] = (node.kind, node.scope, made, hash(taken))
    return found


def _stable(name: str, source: Graph) -> bool:
    for ending in _ADDED:
        name = name.removesuffix(ending)
    return name in source.tensors
