"""A prediction beside the placement that a real session of the provider had."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.errors import ConfigError
from workbench.core.html_table import html_table
from workbench.core.models.graph import Graph
from workbench.core.text import counted
from workbench.features.explain.placement.prediction import CPU, predict
from workbench.features.explain.placement.records import Placement

_MOST_ROWS = 20


@dataclass(frozen=True, slots=True)
class CheckedNode:
    """One node of the graph that ORT divided. `predicted`: None where the table does not say."""

    node: str
    op_type: str
    predicted: bool | None
    actual: str | None
    right: bool  # whether the node ran where it was predicted to; an unknown counts as the CPU
    condition: str


@dataclass(frozen=True, slots=True)
class PredictionCheck:
    """What was predicted from the table, and what the session of this explanation really did."""

    provider: str
    name: str
    nodes: tuple[CheckedNode, ...] = field(metadata=TABLE)
    not_compared: int  # nodes that were fused after ORT divided the graph, or are not in both graphs
    predicted_partitions: int
    partitions: int

    @property
    def right(self) -> int:
        return sum(node.right for node in self.nodes)

    @property
    def wrong(self) -> tuple[CheckedNode, ...]:
        return tuple(node for node in self.nodes if not node.right)

    def to_frame(self) -> DataFrame:
        """One row a node: node, op_type, predicted, actual, right, condition."""
        return frame_of(self.nodes, ("node", "op_type", "predicted", "actual", "right", "condition"))

    def __str__(self) -> str:
        left = f"; {counted(self.not_compared, 'node')} not compared" if self.not_compared else ""
        return (
            f"{self.name}: {self.right:,} of {counted(len(self.nodes), 'node')} ran where predicted{left}. "
            f"Partitions: {self.predicted_partitions} predicted, {self.partitions} in the session."
        )

    __repr__ = __str__

    def _repr_html_(self) -> str:
        heads = ("wrongly predicted", "operator", "predicted", "actual", "condition")
        cells = attrgetter("node", "op_type", "predicted", "actual", "condition")
        return html_table(heads, map(cells, self.wrong[:_MOST_ROWS]), str(self))


def compare_prediction(placement: Placement, divided: Graph) -> PredictionCheck:
    """Predict for the first provider of a session, and compare with where its nodes are.

    `divided`: the graph that ORT divided among its providers.
    """
    provider = next((name for name in placement.in_effect if name != CPU), None)
    if provider is None:
        raise ConfigError(
            "this explanation is of a session on the CPU alone, which nothing is predicted for",
            'explain with the provider: wb.explain(model, wb.Config(providers=["openvino"])).'
            "compare_prediction()",
        )
    prediction = predict(divided, provider)
    actual = {node.node: node.provider for node in placement.nodes}
    return PredictionCheck(
        provider=provider,
        name=prediction.name,
        nodes=tuple(
            CheckedNode(
                node.node, node.op_type, node.takes, actual[node.node],
                (node.takes is True) == (actual[node.node] == provider), node.condition,
            )
            for node in prediction.nodes
            if node.node in actual
        ),
        not_compared=len({node.node for node in prediction.nodes} ^ actual.keys()),
        predicted_partitions=prediction.partitions,
        partitions=len({node.partition for node in placement.nodes if node.provider == provider}),
    )  # fmt: skip
