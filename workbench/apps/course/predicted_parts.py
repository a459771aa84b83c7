"""What each provider would take of a model, and into how many parts it would cut it: predictions, drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.display import frame_of
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd

    from workbench.drawing.chart import Chart
    from workbench.features.explain.placement.prediction import Predictions


@dataclass(frozen=True, slots=True)
class PredictedPart:
    """One provider: the share of the nodes that it would take, and its partitions."""

    provider: str
    share: float
    partitions: int


class PredictedParts(Exportable):
    """Predicted shares and partitions of all providers; nothing of it ran. Made by `predicted_parts`."""

    def __init__(self, parts: tuple[PredictedPart, ...]) -> None:
        self.parts = parts

    def to_frame(self) -> pd.DataFrame:
        """One row a provider; columns predicted_for, node_share, partitions."""
        names = {"provider": "predicted_for", "share": "node_share"}
        return frame_of(self.parts, ("provider", "share", "partitions"), names=names)

    def __str__(self) -> str:
        if not self.parts:
            return "There is no prediction."
        whole = [part.provider for part in self.parts if part.share == 1 and part.partitions == 1]
        most = max(self.parts, key=lambda part: part.partitions)
        return (
            f"Predicted, nothing ran: {len(whole)} of {len(self.parts)} providers would take the whole graph "
            f"in one partition; {most.provider} would cut it into {most.partitions:,}."
        )

    def chart(self) -> Chart:
        """Return a row for each provider: its share of the nodes, and its partitions."""
        from workbench.drawing.chart import Axis, Chart, ChartRow, Value, series_look

        rows = tuple(
            ChartRow(
                part.provider,
                (
                    (Value(100 * part.share, f"{part.share:.0%}", series_look(0)),),
                    (Value(part.partitions, f"{part.partitions:,}", series_look(1)),),
                ),
            )
            for part in self.parts
        )
        axes = (Axis("predicted: nodes that it would take (%)"), Axis("predicted: partitions"))
        return Chart((str(self),), axes, rows, columns=2)


def predicted_parts(predictions: Predictions) -> PredictedParts:
    """Read the shares and partitions from predictions for all providers.

    >>> from workbench import course
    >>> str(course.PredictedParts(()))
    'There is no prediction.'
    """
    parts = [
        PredictedPart(
            prediction.name,
            prediction.taken / len(prediction.nodes) if prediction.nodes else 0.0,
            prediction.partitions,
        )
        for prediction in predictions.all
    ]
    return PredictedParts(tuple(sorted(parts, key=lambda part: (-part.share, part.partitions))))
