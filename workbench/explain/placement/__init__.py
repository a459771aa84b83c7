"""Which node runs where, in which partitions, over which boundaries; and where it might run elsewhere."""

from workbench.explain.placement.boundaries import Boundary, boundaries
from workbench.explain.placement.partitions import partitions
from workbench.explain.placement.placed import Placed, Placement, place
from workbench.explain.placement.support import SupportTable, support_tables
from workbench.explain.placement.whatif import Prediction, predict

__all__ = [
    "Boundary",
    "Placed",
    "Placement",
    "Prediction",
    "SupportTable",
    "boundaries",
    "partitions",
    "place",
    "predict",
    "support_tables",
]
