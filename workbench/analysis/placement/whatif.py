"""What a provider that is not here would probably take. A prediction: types and shapes decide in the end."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from workbench.analysis.graph import Graph
from workbench.analysis.observe import KERNELS
from workbench.analysis.placement.boundaries import Boundary, boundaries
from workbench.analysis.placement.partitions import partitions, units
from workbench.analysis.placement.support import SupportTable, support_tables
from workbench.errors import ConfigError
from workbench.records.display import to_table
from workbench.records.tables import TABLE

if TYPE_CHECKING:
    import pandas as pd

CPU = "CPUExecutionProvider"
PREFERRED = "MLProgram"  # of CoreML's two formats, the newer one
MOST_LEFT = 4
_SHORT = {"directml": "dml", "coremlmlprogram": "coreml"}


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
    name: str  # with its variant: CoreML (MLProgram)
    source: str
    version: str
    nodes: tuple[Predicted, ...] = field(metadata=TABLE)
    boundaries: tuple[Boundary, ...] = field(metadata=TABLE)

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

    @property
    def boundary_bytes(self) -> int | None:
        """What would be copied in a run; None where the size of any tensor is not known."""
        sizes = [one.size_bytes for one in self.boundaries]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    def to_frame(self) -> pd.DataFrame:
        """One row a node; `prediction` says in every row that it is one."""
        import pandas as pd

        words = {
            True: "prediction: would run there",
            False: "prediction: stays on the CPU",
            None: "unknown",
        }
        rows = [
            (one.node, one.op_type, words[one.takes], one.condition or None, one.partition, self.source)
            for one in self.nodes
        ]
        columns = ["node", "op_type", "prediction", "condition", "partition", "source"]
        return pd.DataFrame(rows, columns=columns)

    def __str__(self) -> str:
        size = self.boundary_bytes
        copied = f"{size:,} bytes" if size is not None else "a size that is not known"
        return (
            f"Prediction, nothing ran: {self.name} would take {self.taken} of {len(self.nodes)} nodes in "
            f"{self.partitions} partitions with {len(self.boundaries)} tensors of {copied} crossing; "
            f"{self.unknown} unknown. Source: {self.source}; {self.version}"
        )


@dataclass(frozen=True, slots=True)
class Predictions:
    """All providers that there is a table for. Not a measurement: nothing of this ran."""

    all: tuple[Prediction, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a provider, the one that would take most first."""
        import pandas as pd

        rows = [
            (
                one.name, one.taken, one.taken / len(one.nodes) if one.nodes else None, one.unknown,
                one.partitions, len(one.boundaries), one.boundary_bytes, _why_not(one), one.version,
                one.source,
            )
            for one in sorted(self.all, key=lambda one: (-one.taken, one.unknown, one.name))
        ]  # fmt: skip
        columns = [
            "prediction_for", "nodes", "node_share", "unknown", "partitions", "tensors_crossing",
            "bytes_crossing", "left_to_the_cpu", "table_version", "source",
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=columns).astype(
            {"bytes_crossing": "Int64", "node_share": "float64"}
        )

    def __str__(self) -> str:
        told = "; ".join(f"{one.name} {one.taken} of {len(one.nodes)}" for one in self.all)
        return f"Predictions from tables, nothing ran. Nodes that each would take: {told}"

    def _repr_html_(self) -> str:
        shown = self.to_frame().drop(columns=["source"])
        heads = [name.replace("_", " ") for name in shown.columns]
        rows = shown.astype(object).where(shown.notna(), None).values.tolist()
        return to_table(heads, rows, str(self))


def predict_all(graph: Graph, sizes: Mapping[str, int] | None = None) -> Predictions:
    """A prediction from each table."""
    return Predictions(tuple(_predicted(graph, table, sizes or {}) for table in support_tables()))


def predict(graph: Graph, provider: str, sizes: Mapping[str, int] | None = None) -> Prediction:
    """Place a graph on a provider from its support table; what is not known counts as the CPU's.

    `sizes`: bytes of tensors as a profile saw them, where the graph leaves its dims open.
    """
    return _predicted(graph, _table(provider), sizes or {})


def _predicted(graph: Graph, table: SupportTable, sizes: Mapping[str, int]) -> Prediction:
    said = {node.key: table.says(graph, node) for node in graph.nodes}
    providers: dict[str, str | None] = {
        key: table.provider if takes else CPU for key, (takes, _) in said.items()
    }
    partition = (partitions if table.provider in KERNELS else units)(graph, providers)
    return Prediction(
        provider=table.provider,
        name=table.name,
        source=table.source,
        version=table.version,
        nodes=tuple(
            Predicted(node.key, node.kind, *said[node.key], partition[node.key]) for node in graph.nodes
        ),
        boundaries=tuple(
            replace(one, size_bytes=sizes.get(one.tensor, one.size_bytes))
            for one in boundaries(graph, providers, partition)
        ),
    )


def _why_not(prediction: Prediction) -> str:
    """The operators that stay, most frequent first."""
    left = Counter(node.op_type for node in prediction.nodes if not node.takes)
    words = [f"{count} {op}" for op, count in left.most_common(MOST_LEFT)]
    return ", ".join(words) + (", …" if len(left) > MOST_LEFT else "")


def _table(provider: str) -> SupportTable:
    asked = _folded(provider)
    for table in sorted(support_tables(), key=lambda one: one.variant != PREFERRED):
        if asked in (_folded(table.provider), _folded(table.name), _folded(table.variant)):
            return table
    known = ", ".join(table.name for table in support_tables())
    raise ConfigError(f"there is no support table for {provider!r}", f"tables exist for: {known}")


def _folded(name: str) -> str:
    key = re.sub(r"[^a-z0-9]", "", name.removesuffix("ExecutionProvider").casefold())
    return _SHORT.get(key, key)
