"""Values of a placement: nodes with their provider, compiled parts, boundaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import DataFrame, data_frame, frame_of
from workbench.core.models.graph import Graph
from workbench.core.text import counted


def partitions(graph: Graph, providers: Mapping[str, str | None]) -> dict[str, int]:
    """Number the partitions from 0 in the order of the graph; neighbours on one provider share a number."""
    parent = {node.key: node.key for node in graph.nodes}

    def root(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    for node in graph.nodes:
        for maker in graph.makers_of(node):
            if providers[maker.key] == providers[node.key]:
                parent[root(maker.key)] = root(node.key)
    numbers: dict[str, int] = {}
    return {node.key: numbers.setdefault(root(node.key), len(numbers)) for node in graph.nodes}


def units(graph: Graph, providers: Mapping[str, str | None]) -> dict[str, int]:
    """Number the parts of providers that compile: no part waits for another that waits for it.

    Where a value leaves a provider and comes back, what is before and what is after cannot be one unit.
    """
    stage: dict[str, int] = {}
    for node in graph.nodes:
        stages = (
            stage.get(maker.key, 0) + (providers[maker.key] != providers[node.key])
            for maker in graph.makers_of(node)
        )
        stage[node.key] = max(stages, default=0)
    return partitions(graph, {key: f"{providers[key]} {number}" for key, number in stage.items()})


@dataclass(frozen=True, slots=True)
class Boundary:
    """One tensor into one other partition; `size_bytes` is None where its shape or type is not known."""

    tensor: str
    producer: str
    from_provider: str | None
    to_provider: str | None
    from_partition: int
    to_partition: int
    size_bytes: int | None


def total_bytes(crossing: Iterable[Boundary]) -> int | None:
    """Return the bytes of all these tensors; None where the size of any is not known."""
    sizes = [boundary.size_bytes for boundary in crossing]
    return None if None in sizes else sum(size for size in sizes if size is not None)


def with_sizes(crossing: Iterable[Boundary], sizes: Mapping[str, int]) -> tuple[Boundary, ...]:
    """Return the boundaries with the sizes that a profile saw, by tensor, where it saw them."""
    return tuple(
        replace(boundary, size_bytes=sizes.get(boundary.tensor, boundary.size_bytes)) for boundary in crossing
    )


def boundaries(
    graph: Graph, providers: Mapping[str, str | None], partition: Mapping[str, int]
) -> tuple[Boundary, ...]:
    """Return each tensor once for each partition that reads it from another."""
    crossing: dict[tuple[str, int], Boundary] = {}
    for node in graph.nodes:
        for name in node.reads:
            maker = graph.producers.get(name)
            if maker is None or partition[maker.key] == partition[node.key]:
                continue
            info = graph.info(name)
            crossing.setdefault(
                (name, partition[node.key]),
                Boundary(
                    tensor=name,
                    producer=maker.key,
                    from_provider=providers[maker.key],
                    to_provider=providers[node.key],
                    from_partition=partition[maker.key],
                    to_partition=partition[node.key],
                    size_bytes=info.size_bytes if info else None,
                ),
            )
    return tuple(crossing.values())


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """One optimized node. `provider` is None where ORT's record does not tell."""

    node: str
    op_type: str
    provider: str | None
    partition: int
    inserted: bool  # a Memcpy, Cast or Reorder that no source node asked for
    reason: str | None  # why it did not get the provider that was asked for first, where ORT says it
    time_s: float | None = None  # of a run, from a profile


@dataclass(frozen=True, slots=True)
class CompiledPart:
    """Nodes that a provider compiled into one: they run as one, and a profile tells one time for them."""

    provider: str
    nodes: tuple[str, ...]
    time_s: float | None = None  # of a run, from a profile


@dataclass(frozen=True, slots=True)
class UnmatchedTime:
    """The time of an event in a profile that no node of the graph stands for."""

    name: str
    provider: str | None
    time_s: float


def placed_in_words(counts: Iterable[tuple[str | None, int]]) -> str:
    """Return how many nodes each provider has: 12 on CUDA, 3 on CPU."""
    names = ((name or "unknown", count) for name, count in counts)
    return ", ".join(f"{count:,} on {name.removesuffix('ExecutionProvider')}" for name, count in names)


@dataclass(frozen=True, slots=True)
class Placement:
    """Every node that runs, where it runs; and what crosses between partitions."""

    nodes: tuple[PlacedNode, ...] = field(metadata=TABLE)
    boundaries: tuple[Boundary, ...] = field(metadata=TABLE)
    # source node → provider; None: it does not run, or not known
    sources: tuple[tuple[str, str | None], ...] = field(metadata=TABLE)
    requested: tuple[str, ...]
    in_effect: tuple[str, ...]
    not_loaded: tuple[tuple[str, str], ...]  # a provider that was asked for, and the loader's own words
    of_basic_graph: bool  # True: a provider compiles its parts, so these are the nodes after the basic level
    compiled: tuple[CompiledPart, ...] = ()
    profiled: bool = False  # whether the times, and the sizes that crossed, are from a profile
    unplaced: tuple[UnmatchedTime, ...] = ()

    def __repr__(self) -> str:
        where = placed_in_words(self.counts()) or "no nodes"
        return f"<Placement: {where}; {counted(self.partitions, 'partition')}>"

    @property
    def partitions(self) -> int:
        return len({node.partition for node in self.nodes})

    def counts(self) -> tuple[tuple[str | None, int], ...]:
        """The number of nodes of each provider, the most first."""
        return tuple(Counter(node.provider for node in self.nodes).most_common())

    @property
    def time_s(self) -> float | None:
        """The time of a run in all nodes and compiled parts; None without a profile."""
        return _sum(self._timed) if self.profiled else None

    @property
    def _timed(self) -> tuple[PlacedNode | CompiledPart | UnmatchedTime, ...]:
        return (*self.nodes, *self.compiled, *self.unplaced)

    def providers_frame(self) -> DataFrame:
        """One row a provider: its nodes, partitions and time with their shares, and what crosses to it."""
        rows = []
        for provider, count in self.counts():
            nodes = [node for node in self.nodes if node.provider == provider]
            crossing = [entry for entry in self.boundaries if entry.to_provider == provider]
            mine = [entry for entry in self._timed if entry.provider == provider]
            time_s = _sum(mine) if self.profiled else None
            rows.append(
                (
                    provider, count, count / len(self.nodes), len({node.partition for node in nodes}),
                    sum(node.inserted for node in nodes), time_s,
                    time_s / self.time_s if time_s is not None and self.time_s else None, len(crossing),
                    total_bytes(crossing),
                )
            )  # fmt: skip
        columns = [
            "provider", "nodes", "node_share", "partitions", "inserted", "time_s", "time_share", "tensors_in",
            "bytes_in",
        ]  # fmt: skip
        floats = dict.fromkeys(("time_s", "time_share"), "float64")
        return data_frame(rows, columns=columns).astype({**floats, "bytes_in": "Int64"})

    def partitions_frame(self) -> DataFrame:
        """One row a partition, in the order of the graph: its provider, nodes and time."""
        parts = {part.nodes[0]: part.time_s for part in self.compiled if part.nodes}
        nodes_of: dict[int, list[PlacedNode]] = {}
        for node in self.nodes:
            nodes_of.setdefault(node.partition, []).append(node)
        rows = []
        for number, nodes in nodes_of.items():
            times = [node.time_s for node in nodes] + [parts[n.node] for n in nodes if n.node in parts]
            known = [time_s for time_s in times if time_s is not None]
            ops = ", ".join(f"{count} {op}" for op, count in Counter(n.op_type for n in nodes).most_common())
            rows.append((number, nodes[0].provider, len(nodes), sum(known) if known else None, ops))
        columns = ["partition", "provider", "nodes", "time_s", "operators"]
        return data_frame(rows, columns=columns).astype({"time_s": "float64"})

    def to_frame(self) -> DataFrame:
        """One row an optimized node: node, op_type, provider, partition, inserted, time_s, reason."""
        names = ("node", "op_type", "provider", "partition", "inserted", "time_s", "reason")
        return frame_of(self.nodes, names, floats=("time_s",))

    def boundaries_frame(self) -> DataFrame:
        """One row a tensor that crosses."""
        return frame_of(self.boundaries, Boundary.__dataclass_fields__).astype({"size_bytes": "Int64"})


def _sum(timed: Sequence[PlacedNode | CompiledPart | UnmatchedTime]) -> float:
    return sum(entry.time_s for entry in timed if entry.time_s is not None)
