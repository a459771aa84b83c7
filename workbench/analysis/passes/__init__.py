"""Which passes fired, what each did, what was fused, and what could have been and was not."""

from workbench.analysis.passes.fired import FiredPass, Passes, passes_of
from workbench.analysis.passes.missed import Missed, missed
from workbench.analysis.passes.statistics import FusionCount, OpCount, Statistics, statistics

__all__ = [
    "FiredPass",
    "FusionCount",
    "Missed",
    "OpCount",
    "Passes",
    "Statistics",
    "missed",
    "passes_of",
    "statistics",
]
