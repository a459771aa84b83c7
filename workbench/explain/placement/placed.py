"""ORT's own record of placement, which names nodes after the basic level, carried to the other graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.explain.observe import Observation
from workbench.explain.placement.boundaries import Boundary, boundaries
from workbench.explain.placement.partitions import partitions
from workbench.explain.provenance import account

if TYPE_CHECKING:
    import pandas as pd

# Nodes that ORT puts between partitions, types and layouts: shown apart, since no model asks for them.
TRANSFER = frozenset({"MemcpyFromHost", "MemcpyToHost", "Cast", "ReorderInput", "ReorderOutput"})


@dataclass(frozen=True, slots=True)
class Placed:
    """One optimized node. `provider` is None where ORT's record does not tell."""

    node: str
    op_type: str
    provider: str | None
    partition: int
    inserted: bool  # a Memcpy, Cast or Reorder that no source node asked for
    reason: str | None  # why it did not get the provider that was asked for first, where ORT says it
    time_s: float | None = None  # of a run, from a profile


@dataclass(frozen=True, slots=True)
class Placement:
    """Every node that runs, where it runs; and what crosses between partitions."""

    nodes: tuple[Placed, ...]
    boundaries: tuple[Boundary, ...]
    sources: tuple[tuple[str, str | None], ...]  # source node → provider; None: it does not run, or not known
    requested: tuple[str, ...]
    in_effect: tuple[str, ...]
    not_loaded: tuple[tuple[str, str], ...]  # a provider that was asked for, and the loader's own words
    of_basic_graph: bool  # True: a provider compiles its parts, so these are the nodes after the basic level

    @property
    def partitions(self) -> int:
        return len({node.partition for node in self.nodes})

    def counts(self) -> tuple[tuple[str | None, int], ...]:
        """Nodes a provider, the most first."""
        return tuple(Counter(node.provider for node in self.nodes).most_common())

    def with_times(self, times_s: Mapping[str, float]) -> Placement:
        """The same with the time of each node from a profile, by name."""
        return replace(self, nodes=tuple(replace(node, time_s=times_s.get(node.node)) for node in self.nodes))

    def to_frame(self) -> pd.DataFrame:
        """One row an optimized node: node, op_type, provider, partition, inserted, time_s, reason."""
        import pandas as pd

        rows = [
            (one.node, one.op_type, one.provider, one.partition, one.inserted, one.time_s, one.reason)
            for one in self.nodes
        ]
        columns = ["node", "op_type", "provider", "partition", "inserted", "time_s", "reason"]
        return pd.DataFrame(rows, columns=columns).astype({"time_s": "float64"})

    def boundaries_frame(self) -> pd.DataFrame:
        """One row a tensor that crosses."""
        import pandas as pd

        columns = list(Boundary.__dataclass_fields__)
        rows = [[getattr(one, name) for name in columns] for one in self.boundaries]
        return pd.DataFrame(rows, columns=columns).astype({"size_bytes": "Int64"})


def place(observation: Observation, requested: tuple[str, ...], inserted: frozenset[str]) -> Placement:
    """Join ORT's record to the optimized graph, through the passes that ran after it was taken."""
    basic = max((i for i, shot in enumerate(observation.chain) if shot.level <= 1), default=-1)
    recorded = _recorded(observation)
    graph = observation.final
    later = [(shot.name, shot.level, shot.graph) for shot in observation.chain[basic + 1 :]]
    start = observation.chain[basic].graph if basic >= 0 else observation.source
    at_basic = {node.key: recorded.get(node.name) for node in start.nodes}
    providers: dict[str, str | None] = {}
    for one in account(start, later).optimized:
        found = {at_basic[key] for key in one.sources} - {None}
        providers[one.node] = found.pop() if len(found) == 1 else recorded.get(graph.by_key[one.node].name)
    only = observation.providers[0] if len(observation.providers) == 1 else None
    if only is not None:  # one provider in effect: there is nowhere else to run
        providers = dict.fromkeys(providers, only)
    else:
        _settle_transfers(observation, providers)
    partition = partitions(graph, providers)
    not_loaded = _not_loaded(observation, requested)
    reason = _reason(requested, dict(not_loaded))
    first = requested[0] if requested else None
    return Placement(
        nodes=tuple(
            Placed(
                node.key, node.kind, providers[node.key], partition[node.key],
                inserted=node.op_type in TRANSFER and node.key in inserted,
                reason=reason if first and providers[node.key] not in (first, None) else None,
            )
            for node in graph.nodes
        ),
        boundaries=boundaries(graph, providers, partition),
        sources=_of_sources(observation, providers),
        requested=requested,
        in_effect=observation.providers,
        not_loaded=not_loaded,
        of_basic_graph=not observation.final_saved,
    )  # fmt: skip


def _recorded(observation: Observation) -> dict[str, str]:
    """Names in bodies of several nodes may repeat: those that disagree are left out."""
    found: dict[str, str] = {}
    doubtful: set[str] = set()
    for provider, nodes in observation.assignment:
        for name, _, _ in nodes:
            if found.setdefault(name, provider) != provider:
                doubtful.add(name)
    return {name: provider for name, provider in found.items() if name not in doubtful}


def _settle_transfers(observation: Observation, providers: dict[str, str | None]) -> None:
    """A node that ORT put in after its record runs where the node runs that reads it."""
    graph = observation.final
    for node in reversed(graph.nodes):
        if providers[node.key] is None:
            readers = (one for name in node.outputs for one in graph.readers.get(name, ()))
            found = {providers[one.key] for one in readers} - {None}
            if len(found) == 1:
                providers[node.key] = found.pop()


def _of_sources(
    observation: Observation, providers: Mapping[str, str | None]
) -> tuple[tuple[str, str | None], ...]:
    chain = [(shot.name, shot.level, shot.graph) for shot in observation.chain]
    rows = []
    for one in account(observation.source, chain).sources:
        found = {providers[key] for key in one.into} - {None}
        rows.append((one.node, found.pop() if len(found) == 1 else None))
    return tuple(rows)


def _not_loaded(observation: Observation, requested: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    missing = [name for name in requested if name not in observation.providers]
    rows = []
    for name in missing:
        short = name.removesuffix("ExecutionProvider")
        said = [line for line in observation.warnings if short.casefold() in line.casefold()]
        rows.append((name, "\n".join(said) or "ORT left it out without a word"))
    return tuple(rows)


def _reason(requested: tuple[str, ...], not_loaded: Mapping[str, str]) -> str | None:
    first = requested[0] if requested else None
    if first is None:
        return None
    if first in not_loaded:
        return f"{first} did not load: {not_loaded[first].splitlines()[0]}"
    return None
