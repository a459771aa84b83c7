"""Counts: operators before and after, nodes by fate, fusions by pattern."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import data_frame, frame_of
from workbench.features.explain.observe import Observation
from workbench.features.explain.provenance.account import Account, TracedNode

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class OpCount:
    """Nodes of one operator in the source and in the optimized graph."""

    op_type: str
    before: int
    after: int


@dataclass(frozen=True, slots=True)
class FusionCount:
    """One pattern: the source operators that optimized nodes of one operator do the work of."""

    pattern: tuple[str, ...]  # sorted
    into: str
    count: int
    passes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Statistics:
    """Before and after in numbers."""

    ops: tuple[OpCount, ...] = field(metadata=TABLE)
    fusions: tuple[FusionCount, ...] = field(metadata=TABLE)
    source_nodes: int
    optimized_nodes: int
    fused_nodes: int  # optimized nodes that do the work of several source nodes

    @property
    def fused_share(self) -> float | None:
        """The share of the optimized nodes that are fused; None where there are none."""
        return self.fused_nodes / self.optimized_nodes if self.optimized_nodes else None

    def ops_frame(self) -> pd.DataFrame:
        return frame_of(self.ops, ("op_type", "before", "after"))

    def fusions_frame(self) -> pd.DataFrame:
        rows = [
            (" + ".join(fusion.pattern), fusion.into, fusion.count, ", ".join(fusion.passes))
            for fusion in self.fusions
        ]
        return data_frame(rows, columns=["pattern", "into", "count", "passes"])


def statistics(observation: Observation, account: Account) -> Statistics:
    """Count from the source to the optimized graph."""
    before = Counter(node.kind for node in observation.source.nodes)
    after = Counter(node.kind for node in observation.final.nodes)
    kinds = {node.key: node.kind for node in observation.source.nodes}
    fused = [target for target in account.optimized if len(target.sources) > 1]
    groups: dict[tuple[tuple[str, ...], str], list[TracedNode]] = {}
    for target in fused:
        key = (tuple(sorted(kinds[source] for source in target.sources)), target.op_type)
        groups.setdefault(key, []).append(target)
    order = sorted(before.keys() | after.keys(), key=lambda op: (-max(before[op], after[op]), op))
    return Statistics(
        ops=tuple(OpCount(op, before[op], after[op]) for op in order),
        fusions=tuple(
            FusionCount(
                *key, len(nodes), tuple(dict.fromkeys(name for node in nodes for name in node.passes))
            )
            for key, nodes in sorted(groups.items(), key=lambda item: -len(item[1]))
        ),
        source_nodes=sum(before.values()),
        optimized_nodes=sum(after.values()),
        fused_nodes=len(fused),
    )
