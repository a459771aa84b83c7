"""From source to optimized graph: every source node has one fate, every optimized node its sources."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from workbench.core.bundle.codec import TABLE
from workbench.core.models.graph import Graph, Node
from workbench.features.explain.provenance.step import PassStep, trace_step

Fate = Literal["kept", "fused", "folded", "eliminated", "unknown"]
FATES: tuple[Fate, ...] = ("kept", "fused", "folded", "eliminated", "unknown")


@dataclass(frozen=True, slots=True)
class SourceFate:
    """What happened to one source node; `into` are the optimized nodes that do its work now."""

    node: str
    op_type: str
    fate: Fate
    into: tuple[str, ...]
    passes: tuple[str, ...]  # that changed it, in order


@dataclass(frozen=True, slots=True)
class TracedNode:
    """One optimized node. `inserted`: ORT put it in to carry a value; it does no source node's work."""

    node: str
    op_type: str
    sources: tuple[str, ...]
    inserted: bool
    passes: tuple[str, ...]

    @property
    def is_traced(self) -> bool:
        return self.inserted or bool(self.sources)


@dataclass(frozen=True, slots=True)
class PassChange:
    """What one pass did: nodes by key, and the operators that went and came."""

    name: str  # of the pass; "required" for what ORT does at every level
    level: int
    removed: tuple[str, ...]
    added: tuple[str, ...]
    rewired: tuple[str, ...]
    ops_removed: tuple[tuple[str, int], ...]
    ops_added: tuple[tuple[str, int], ...]
    nodes_after: int


@dataclass(frozen=True, slots=True)
class Account:
    """Provenance over all passes; `sources` holds each source node once."""

    sources: tuple[SourceFate, ...] = field(metadata=TABLE)
    optimized: tuple[TracedNode, ...] = field(metadata=TABLE)
    changes: tuple[PassChange, ...] = field(metadata=TABLE)

    def count(self, fate: Fate) -> int:
        return sum(source.fate == fate for source in self.sources)


Chain = Sequence[tuple[str, int, Graph]]  # (pass, level, graph after it)


def steps_of(source: Graph, chain: Chain) -> tuple[PassStep, ...]:
    """Compare each graph with the one before it: the costly part, made once for all callers."""
    befores = (source, *(graph for _, _, graph in chain))
    return tuple(trace_step(before, after) for before, (_, _, after) in zip(befores, chain, strict=False))


def carried(start: Graph, steps: Iterable[PassStep]) -> dict[str, frozenset[str]]:
    """Return for each node after the last step the nodes of `start` whose work it does."""
    holders = {node.key: frozenset((node.key,)) for node in start.nodes}
    for step in steps:
        holders = _held(step, holders)
    return holders


def account(source: Graph, chain: Chain, steps: Sequence[PassStep] | None = None) -> Account:
    """Follow every node through the chain; `steps` are those of `steps_of`, where they were made already."""
    holders = carried(source, ())
    passes: dict[str, list[str]] = {node.key: [] for node in source.nodes}
    own_passes: dict[str, tuple[str, ...]] = {node.key: () for node in source.nodes}
    inserted: set[str] = set()
    ended: dict[str, Fate] = {}
    changes: list[PassChange] = []
    last = source
    for (name, level, graph), step in zip(chain, steps or steps_of(source, chain), strict=True):
        now = _held(step, holders)
        changed = {
            *step.removed,
            *(origin for key in step.rewired for origin in step.sources[key] if len(step.sources[key]) > 1),
        }
        for key in changed:
            for origin in holders[key]:
                if name not in passes[origin]:
                    passes[origin].append(name)
        alive = {origin for origins in now.values() for origin in origins}
        for key, fate in step.lost.items():
            ended |= dict.fromkeys(holders[key] - alive, fate)
        carried_on = {key for key, sources in step.sources.items() if sources and sources <= inserted}
        inserted = carried_on | step.inserted  # a carrier stays one while nothing but carriers goes into it
        own_passes = _own_passes(step, own_passes, name)
        changes.append(
            PassChange(
                name=name,
                level=level,
                removed=step.removed,
                added=step.added,
                rewired=step.rewired,
                ops_removed=_ops(last.by_key[key] for key in step.removed),
                ops_added=_ops(graph.by_key[key] for key in step.added),
                nodes_after=len(graph.nodes),
            )
        )
        holders, last = now, graph
    order = {node.key: index for index, node in enumerate(source.nodes)}
    return Account(
        sources=_fates(source, holders, ended, passes),
        optimized=tuple(
            TracedNode(
                node.key,
                node.kind,
                tuple(sorted(holders[node.key], key=order.__getitem__)),
                node.key in inserted and not holders[node.key],
                own_passes[node.key],
            )
            for node in last.nodes
        ),
        changes=tuple(changes),
    )


def _held(step: PassStep, holders: Mapping[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return the source nodes held by each node after a step."""
    now: dict[str, frozenset[str]] = {}
    for key, sources in step.sources.items():
        if len(sources) == 1:  # most nodes are as they were
            (source,) = sources
            now[key] = holders[source]
        else:
            now[key] = frozenset().union(*(holders[source] for source in sources))
    return now


def _own_passes(step: PassStep, before: dict[str, tuple[str, ...]], name: str) -> dict[str, tuple[str, ...]]:
    own: dict[str, tuple[str, ...]] = {}
    touched = {*step.added, *step.rewired}
    for key, sources in step.sources.items():
        if len(sources) == 1 and key not in touched:
            (source,) = sources
            own[key] = before[source]
            continue
        earlier = dict.fromkeys(earlier_pass for source in sorted(sources) for earlier_pass in before[source])
        if key in touched:
            earlier[name] = None
        own[key] = tuple(earlier)
    return own


def _fates(
    source: Graph, holders: dict[str, frozenset[str]], ended: dict[str, Fate], passes: dict[str, list[str]]
) -> tuple[SourceFate, ...]:
    into: dict[str, list[str]] = {}
    for key, origins in holders.items():
        for origin in origins:
            into.setdefault(origin, []).append(key)
    rows = []
    for node in source.nodes:
        heirs = into.get(node.key, [])
        if heirs:
            fate: Fate = "kept" if all(len(holders[key]) == 1 for key in heirs) else "fused"
        else:
            fate = ended.get(node.key, "unknown")
        rows.append(SourceFate(node.key, node.kind, fate, tuple(heirs), tuple(passes[node.key])))
    return tuple(rows)


def _ops(nodes: Iterable[Node]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(Counter(node.kind for node in nodes).items()))


def same_graph(first: Graph, second: Graph) -> bool:
    """Return whether two graphs are equal up to generated names: operators, attributes and wiring."""
    if len(first.nodes) != len(second.nodes) or first.outputs != second.outputs:
        return False
    return _shape(first) == _shape(second)


def _shape(graph: Graph) -> Counter[str]:
    """Count nodes by a hash of all that leads to them; constants count by type and shape."""
    marks: dict[str, str] = {name: f"in {name}" for name in graph.inputs}
    for name, info in graph.constants.items():
        marks[name] = f"constant {info.element} {info.dims}"
    counts: Counter[str] = Counter()
    for node in graph.nodes:
        read = "|".join(marks.get(name, "?" if name else "") for name in node.inputs)
        mark = hashlib.blake2b(f"{node.kind} {node.digest} {read}".encode(), digest_size=12).hexdigest()
        counts[mark] += 1
        for index, name in enumerate(node.outputs):
            marks[name] = f"{mark}.{index}"
    return counts


def graph_signature(graph: Graph) -> str:
    """Return a hash that two graphs share exactly if they are the same up to generated names."""
    counts = sorted(_shape(graph).items())
    text = repr((len(graph.nodes), graph.outputs, counts))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
