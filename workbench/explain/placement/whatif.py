"""What a provider that is not here would probably take. A prediction: types and shapes decide in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.errors import ConfigError
from workbench.explain.graph import Graph
from workbench.explain.placement.boundaries import Boundary, boundaries
from workbench.explain.placement.partitions import partitions
from workbench.explain.placement.support import SupportTable, support_tables

if TYPE_CHECKING:
    import pandas as pd

CPU = "CPUExecutionProvider"


@dataclass(frozen=True, slots=True)
class Predicted:
    """One node: `takes` is None where the table does not say."""

    node: str
    op_type: str
    takes: bool | None
    condition: str
    partition: int


@dataclass(frozen=True, slots=True)
class Prediction:
    """Not a measurement: nothing of this ran."""

    provider: str
    source: str
    version: str
    nodes: tuple[Predicted, ...]
    boundaries: tuple[Boundary, ...]

    @property
    def taken(self) -> int:
        return sum(node.takes is True for node in self.nodes)

    @property
    def unknown(self) -> int:
        return sum(node.takes is None for node in self.nodes)

    @property
    def partitions(self) -> int:
        """Of the provider alone; the rest runs on the CPU."""
        return len({node.partition for node in self.nodes if node.takes})

    def to_frame(self) -> pd.DataFrame:
        """One row a node; `prediction` says in every row that it is one."""
        import pandas as pd

        words = {True: "would run there", False: "stays on the CPU", None: "unknown"}
        rows = [
            (one.node, one.op_type, words[one.takes], one.condition or None, one.partition, self.source)
            for one in self.nodes
        ]
        columns = ["node", "op_type", "prediction", "condition", "partition", "source"]
        return pd.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        return (
            f"Prediction, nothing ran: {self.provider} would take {self.taken} of {len(self.nodes)} nodes in "
            f"{self.partitions} partitions with {len(self.boundaries)} tensors crossing; "
            f"{self.unknown} unknown. Source: {self.source}"
        )


def predict(graph: Graph, provider: str) -> Prediction:
    """Place a graph on a provider from its support table; what is not known counts as the CPU's."""
    table = _table(provider)
    said = {node.key: table.says(node.kind) for node in graph.nodes}
    providers: dict[str, str | None] = {
        key: table.provider if takes else CPU for key, (takes, _) in said.items()
    }
    partition = partitions(graph, providers)
    return Prediction(
        provider=table.provider,
        source=table.source,
        version=table.version,
        nodes=tuple(
            Predicted(node.key, node.kind, *said[node.key], partition[node.key]) for node in graph.nodes
        ),
        boundaries=boundaries(graph, providers, partition),
    )


def _table(provider: str) -> SupportTable:
    short = provider.removesuffix("ExecutionProvider").casefold()
    for table in support_tables():
        if table.provider.removesuffix("ExecutionProvider").casefold() == short:
            return table
    known = ", ".join(table.provider for table in support_tables())
    raise ConfigError(f"there is no support table for {provider!r}", f"tables exist for: {known}")
