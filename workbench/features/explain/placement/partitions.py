"""Maximal connected sets of nodes on one provider, and the tensors that cross from one to another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from workbench.features.explain.graph import Graph


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
