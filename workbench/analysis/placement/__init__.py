"""Which node runs where, in which partitions, over which boundaries; and where it might run elsewhere."""

from workbench.analysis.placement.boundaries import Boundary, boundaries
from workbench.analysis.placement.partitions import partitions
from workbench.analysis.placement.records import Compiled, Placed, Placement, Unplaced
from workbench.analysis.placement.resolve import place
from workbench.analysis.placement.support import SupportTable, support_tables
from workbench.analysis.placement.whatif import Prediction, Predictions, predict, predict_all

__all__ = [
    "Boundary",
    "Compiled",
    "Placed",
    "Placement",
    "Prediction",
    "Predictions",
    "SupportTable",
    "Unplaced",
    "boundaries",
    "partitions",
    "place",
    "predict",
    "predict_all",
    "support_tables",
]
