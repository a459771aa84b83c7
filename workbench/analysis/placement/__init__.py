"""Which node runs where, in which partitions, over which boundaries; and where it might run elsewhere."""

from workbench.analysis.placement.boundaries import Boundary, boundaries
from workbench.analysis.placement.comparing import PredictionCheck, compare_prediction
from workbench.analysis.placement.partitions import partitions
from workbench.analysis.placement.prediction import Prediction, Predictions, predict, predict_all
from workbench.analysis.placement.records import CompiledPart, PlacedNode, Placement, UnmatchedTime
from workbench.analysis.placement.resolve import place
from workbench.analysis.placement.support import SupportTable, support_tables

__all__ = [
    "Boundary",
    "CompiledPart",
    "PlacedNode",
    "Placement",
    "Prediction",
    "PredictionCheck",
    "Predictions",
    "SupportTable",
    "UnmatchedTime",
    "boundaries",
    "compare_prediction",
    "partitions",
    "place",
    "predict",
    "predict_all",
    "support_tables",
]
