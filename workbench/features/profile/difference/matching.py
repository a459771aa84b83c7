"""Match the nodes of two optimized graphs that do the same work, by common ancestors in the source graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from workbench.core.models.graph import Graph
from workbench.features.profile.difference.traced import Traced
from workbench.features.profile.session_profile import SessionProfile

Side = Literal["a", "b"]
How = Literal["provenance", "name", "module"]
Ancestors = Mapping[str, frozenset[str]]  # an optimized node → source nodes, in the names of A's source


@dataclass(frozen=True, slots=True)
class Match:
    """Nodes of A and of B that do the same work, in order; a side may be empty. `how` None: no match."""

    a: tuple[str, ...]
    b: tuple[str, ...]
    how: How | None


def match(
    a: Ancestors, b: Ancestors, module_a: Mapping[str, str], module_b: Mapping[str, str]
) -> list[Match]:
    """Return every node in one match: by shared ancestors, then by equal names, then by module.

    A source node whose work many nodes do (a mask folded into every layer) would join all of them. It joins
    only nodes that nothing else joins, and only where it leads to one group.
    """
    groups = _Groups([("a", name) for name in a] + [("b", name) for name in b])
    holders: dict[str, dict[Side, list[str]]] = defaultdict(lambda: {"a": [], "b": []})
    for side, ancestors in _sides(a, b):
        for name, sources in ancestors.items():
            for source in sources:
                holders[source][side].append(name)
    both = {source: sides for source, sides in holders.items() if sides["a"] and sides["b"]}
    for sides in both.values():
        if len(sides["a"]) == len(sides["b"]) == 1:
            groups.join(("a", sides["a"][0]), ("b", sides["b"][0]))
    _join_shared(groups, a, b, both)
    matches = groups.matches("provenance")
    alone_a = [pair.a[0] for pair in matches if not pair.b and len(pair.a) == 1]
    alone_b = {pair.b[0] for pair in matches if not pair.a and len(pair.b) == 1}
    settled = [pair for pair in matches if (pair.a and pair.b) or len(pair.a) + len(pair.b) > 1]
    named = [name for name in alone_a if name in alone_b]
    settled += [Match((name,), (name,), "name") for name in named]
    rest_a = [name for name in alone_a if name not in alone_b]
    rest_b = [name for name in b if name in alone_b and name not in set(named)]
    return settled + _by_module(rest_a, rest_b, module_a, module_b)


def _join_shared(
    groups: _Groups, a: Ancestors, b: Ancestors, both: Mapping[str, Mapping[Side, list[str]]]
) -> None:
    """Join a node that shares ancestors with several nodes to their group, if they are in one group."""
    for side, ancestors in _sides(a, b):
        other: Side = "b" if side == "a" else "a"
        for name, sources in ancestors.items():
            if groups.size((side, name)) > 1:
                continue
            reached = {
                groups.root((other, node))
                for source in sources
                if source in both
                for node in both[source][other]
            }
            if len(reached) == 1:
                groups.join((side, name), reached.pop())


def _by_module(
    left: list[str], right: list[str], module_a: Mapping[str, str], module_b: Mapping[str, str]
) -> list[Match]:
    modules: dict[str | _Node, tuple[list[str], list[str]]] = {}
    for name in left:
        modules.setdefault(module_a.get(name) or ("a", name), ([], []))[0].append(name)
    for name in right:
        modules.setdefault(module_b.get(name) or ("b", name), ([], []))[1].append(name)
    matches = []
    for of_a, of_b in modules.values():
        if of_a and of_b:
            matches.append(Match(tuple(of_a), tuple(of_b), "module"))
        else:
            matches += [Match((name,), (), None) for name in of_a]
            matches += [Match((), (name,), None) for name in of_b]
    return matches


def _sides(a: Ancestors, b: Ancestors) -> tuple[tuple[Side, Ancestors], tuple[Side, Ancestors]]:
    return (("a", a), ("b", b))


_Node = tuple[Side, str]


class _Groups:
    """Disjoint sets of nodes, in the order of their first members."""

    def __init__(self, nodes: Iterable[_Node]) -> None:
        self._parent = {node: node for node in nodes}
        self._size = dict.fromkeys(self._parent, 1)

    def root(self, node: _Node) -> _Node:
        while self._parent[node] != node:
            self._parent[node] = self._parent[self._parent[node]]
            node = self._parent[node]
        return node

    def size(self, node: _Node) -> int:
        return self._size[self.root(node)]

    def join(self, node: _Node, other: _Node) -> None:
        first, second = self.root(node), self.root(other)
        if first != second:
            self._parent[second] = first
            self._size[first] += self._size[second]

    def matches(self, how: How) -> list[Match]:
        members: dict[_Node, tuple[list[str], list[str]]] = {}
        for side, name in self._parent:
            members.setdefault(self.root((side, name)), ([], []))[side == "b"].append(name)
        return [Match(tuple(a), tuple(b), how if a and b else None) for a, b in members.values()]


_ADDED = ("_nchwc", "_nhwc")  # to a tensor's name when its layout changes
_EVENT = "_kernel_time"


def in_the_names_of(explained: Traced, profile: SessionProfile) -> SessionProfile:
    """Return the profile with the explanation's node names; the same object where none differs."""
    if profile.optimized is None or profile.graph is None:
        return profile
    names = same_nodes(profile.graph, explained.optimized, explained.source)
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
