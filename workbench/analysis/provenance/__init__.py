"""Where each optimized node comes from and what happened to each source node."""

from workbench.analysis.provenance.account import (
    Account,
    Chain,
    Change,
    SourceFate,
    TracedNode,
    account,
    carried,
    steps_of,
)
from workbench.analysis.provenance.same import same_graph
from workbench.analysis.provenance.step import Step, trace_step

__all__ = [
    "Account",
    "Chain",
    "Change",
    "SourceFate",
    "Step",
    "TracedNode",
    "account",
    "carried",
    "same_graph",
    "steps_of",
    "trace_step",
]
