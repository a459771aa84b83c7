"""What a provider that is not here would probably take: the provider itself decides in the end.

Recorded checks of predictions against real sessions say how often predictions were right.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.errors import ConfigError
from workbench.core.html_table import html_table
from workbench.core.models.graph import Graph
from workbench.core.plugin_packages import plugin_packages
from workbench.drawing.chart import Axis, Chart, Value, one_value, series_look
from workbench.drawing.exportable import DrawnTable
from workbench.features.explain.observe import KERNELS
from workbench.features.explain.placement.records import (
    Boundary,
    boundaries,
    partitions,
    total_bytes,
    units,
    with_sizes,
)
from workbench.features.explain.placement.support import SupportTable, support_tables

CPU = "CPUExecutionProvider"
PREFERRED = "MLProgram"  # of CoreML's two formats, the newer one
MOST_LEFT = 4
Verdicts = dict[str, tuple[bool | None, str]]  # node → whether the provider takes it, and why or why not
_SHORT = {"directml": "dml", "coremlmlprogram": "coreml"}


@dataclass(frozen=True, slots=True)
class RecordedCheck:
    """The prediction for one model against the placement in a real session of that provider."""

    provider: str
    version: str  # of the package with the provider
    model: str
    nodes: int  # compared: nodes of the graph that ORT divided
    right: int
    predicted_partitions: int
    partitions: int


@cache
def recorded_checks() -> tuple[RecordedCheck, ...]:
    """Read the checks that ship with this package, made by `python -m benchmarks.predictions`."""
    file = files("workbench.features.explain").joinpath("data", "prediction-checks.json")
    return tuple(RecordedCheck(**row) for row in json.loads(file.read_text(encoding="utf-8")))


def share_right(provider: str) -> float | None:
    """Return the share of nodes that the checks of a provider found predicted right; None: never checked."""
    checks = [check for check in recorded_checks() if check.provider == provider]
    return sum(check.right for check in checks) / sum(check.nodes for check in checks) if checks else None


def reliability(provider: str) -> str:
    """Return a sentence on how often predictions for a provider were right."""
    checks = [check for check in recorded_checks() if check.provider == provider]
    if not checks:
        return "Never checked against a real run."
    right, nodes = sum(check.right for check in checks), sum(check.nodes for check in checks)
    whole = sum(check.predicted_partitions == check.partitions for check in checks)
    return (
        f"Checked on {len(checks)} models: {right:,} of {nodes:,} nodes right, "
        f"the number of partitions in {whole}."
    )


@dataclass(frozen=True, slots=True)
class PredictedNode:
    """One node: `takes` is None where the table does not say."""

    node: str
    op_type: str
    takes: bool | None
    condition: str
    partition: int


@dataclass(frozen=True, slots=True)
class PlacementPrediction:
    """A prediction for one provider; nothing of it ran."""

    provider: str
    name: str  # with its variant: CoreML (MLProgram)
    source: str
    version: str
    nodes: tuple[PredictedNode, ...] = field(metadata=TABLE)
    boundaries: tuple[Boundary, ...] = field(metadata=TABLE)

    @property
    def taken(self) -> int:
        return sum(node.takes is True for node in self.nodes)

    @property
    def unknown(self) -> int:
        return sum(node.takes is None for node in self.nodes)

    @property
    def partitions(self) -> int:
        """Partitions of the provider; the rest runs on the CPU."""
        return len({node.partition for node in self.nodes if node.takes})

    @property
    def boundary_bytes(self) -> int | None:
        """Bytes copied in a run; None where the size of any tensor is not known."""
        return total_bytes(self.boundaries)

    def to_frame(self) -> DataFrame:
        """One row a node; `prediction` says in every row that it is one."""
        words = {
            True: "prediction: would run there",
            False: "prediction: stays on the CPU",
            None: "unknown",
        }
        rows = [
            (node.node, node.op_type, words[node.takes], node.condition or None, node.partition, self.source)
            for node in self.nodes
        ]
        columns = ["node", "op_type", "prediction", "condition", "partition", "source"]
        return data_frame(rows, columns=columns)

    def __str__(self) -> str:
        size = self.boundary_bytes
        copied = f"{size:,} bytes" if size is not None else "a size that is not known"
        return (
            f"Prediction, nothing ran: {self.name} would take {self.taken} of {len(self.nodes)} nodes in "
            f"{self.partitions} partitions with {len(self.boundaries)} tensors of {copied} crossing; "
            f"{self.unknown} unknown. {reliability(self.provider)} Source: {self.source}; {self.version}"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Predictions:
    """Predictions for all providers that there is a table for; nothing of them ran."""

    all: tuple[PlacementPrediction, ...]

    def __repr__(self) -> str:
        return f"<{self}>"

    def to_frame(self) -> DataFrame:
        """One row a provider, the one that would take most first."""
        ordered = sorted(
            self.all, key=lambda prediction: (-prediction.taken, prediction.unknown, prediction.name)
        )
        rows = [
            (
                prediction.name, prediction.taken,
                prediction.taken / len(prediction.nodes) if prediction.nodes else None, prediction.unknown,
                prediction.partitions, len(prediction.boundaries), prediction.boundary_bytes,
                _left_operators(prediction), share_right(prediction.provider), prediction.version,
                prediction.source,
            )
            for prediction in ordered
        ]  # fmt: skip
        columns = [
            "prediction_for", "nodes", "node_share", "unknown", "partitions", "tensors_crossing",
            "bytes_crossing", "left_to_the_cpu", "share_right_in_checks", "table_version", "source",
        ]  # fmt: skip
        return data_frame(rows, columns=columns).astype(
            {"bytes_crossing": "Int64", "node_share": "float64", "share_right_in_checks": "float64"}
        )

    def parts(self) -> DrawnTable:
        """Draw the share of the nodes that each provider would take, and the number of parts."""
        shares = ((row.name, row.taken / max(1, len(row.nodes)), row.partitions) for row in self.all)
        parts = sorted(shares, key=lambda part: (-part[1], part[2]))
        whole = sum(share == 1 and count == 1 for _, share, count in parts)
        most = max(parts, key=lambda part: part[2])
        sentence = (
            f"Predicted, nothing ran: {whole} of {len(parts)} providers would take the whole graph in one "
            f"partition; {most[0]} would cut it into {most[2]:,}."
        )
        taken, cut = series_look(0), series_look(1)
        rows = tuple(
            one_value(name, Value(100 * share, f"{share:.0%}", taken), Value(count, f"{count:,}", cut))
            for name, share, count in parts
        )
        axes = (Axis("predicted: nodes that it would take (%)"), Axis("predicted: partitions"))
        chart = Chart((sentence,), axes, rows, columns=2)
        return DrawnTable(sentence, chart, ("predicted_for", "node_share", "partitions"), parts)

    def __str__(self) -> str:
        counts = "; ".join(
            f"{prediction.name} {prediction.taken} of {len(prediction.nodes)}" for prediction in self.all
        )
        return f"Predictions from tables, nothing ran. Nodes that each would take: {counts}"

    def _repr_html_(self) -> str:
        frame = self.to_frame().drop(columns=["source"])
        heads = [name.replace("_", " ") for name in frame.columns]
        rows = frame.astype(object).where(frame.notna(), None).values.tolist()
        return html_table(heads, rows, str(self))


def predict_all(graph: Graph, sizes: Mapping[str, int] | None = None) -> Predictions:
    """Predict from each table."""
    return Predictions(tuple(_predicted(graph, table, sizes or {}) for table in support_tables()))


def predict(graph: Graph, provider: str, sizes: Mapping[str, int] | None = None) -> PlacementPrediction:
    """Place a graph on a provider from its support table; what is not known stays on the CPU.

    `sizes`: bytes of tensors as a profile saw them, where the graph leaves its dims open.
    """
    return _predicted(graph, _table(provider), sizes or {})


def _predicted(graph: Graph, table: SupportTable, sizes: Mapping[str, int]) -> PlacementPrediction:
    verdicts = {node.key: table.judge(graph, node) for node in graph.nodes}
    divide = partitions if table.provider in KERNELS else units
    partition = divide(graph, _providers(table, verdicts))
    lone = _lone_nodes(graph, table, verdicts, partition)
    if lone:
        verdicts |= lone
        partition = divide(graph, _providers(table, verdicts))
    return PlacementPrediction(
        provider=table.provider,
        name=table.name,
        source=table.source,
        version=table.version,
        nodes=tuple(
            PredictedNode(node.key, node.kind, *verdicts[node.key], partition[node.key])
            for node in graph.nodes
        ),
        boundaries=with_sizes(boundaries(graph, _providers(table, verdicts), partition), sizes),
    )


def _providers(table: SupportTable, verdicts: Verdicts) -> dict[str, str | None]:
    return {key: table.provider if takes else CPU for key, (takes, _) in verdicts.items()}


def _lone_nodes(
    graph: Graph, table: SupportTable, verdicts: Verdicts, partition: Mapping[str, int]
) -> Verdicts:
    """Return the nodes that the provider leaves to the CPU because they would be a part of their own."""
    counts = Counter(partition[key] for key, (takes, _) in verdicts.items() if takes)
    if counts.total() == len(verdicts):
        return {}
    return {
        node.key: (False, f"a {node.op_type} that would be a part of its own stays on the CPU")
        for node in graph.nodes
        if node.kind in table.left_alone and verdicts[node.key][0] and counts[partition[node.key]] == 1
    }


def _left_operators(prediction: PlacementPrediction) -> str:
    """List the operators that stay on the CPU, most frequent first."""
    left = Counter(node.op_type for node in prediction.nodes if not node.takes)
    words = [f"{count} {op}" for op, count in left.most_common(MOST_LEFT)]
    return ", ".join(words) + (", …" if len(left) > MOST_LEFT else "")


def _table(provider: str) -> SupportTable:
    wanted = _folded(provider)
    for table in sorted(support_tables(), key=lambda table: table.variant != PREFERRED):
        if wanted in (_folded(table.provider), _folded(table.name), _folded(table.variant)):
            return table
    known = ", ".join(table.name for table in support_tables())
    config = f'wb.Config(providers=[wb.Provider("{provider}", library="auto"), "cpu"])'
    real = f"; a plugin that is installed runs: wb.explain(model, {config})"
    fix = f"tables exist for: {known}{real if plugin_packages() else ''}"
    raise ConfigError(f"there is no support table for {provider!r}", fix)


def _folded(name: str) -> str:
    key = re.sub(r"[^a-z0-9]", "", name.removesuffix("ExecutionProvider").casefold())
    return _SHORT.get(key, key)
