"""Tensors that cross from one partition to another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.analysis.graph import Graph


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
