"""Which node runs where, in which partitions, over which boundaries; and where it might run elsewhere."""

from workbench.explain.placement.boundaries import Boundary, boundaries
from workbench.explain.placement.partitions import partitions
from workbench.explain.placement.placed import Compiled, Placed, Placement, Unplaced
from workbench.explain.placement.placing import place
from workbench.explain.placement.support import SupportTable, support_tables
from workbench.explain.placement.whatif import Prediction, Predictions, predict, predict_all

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
