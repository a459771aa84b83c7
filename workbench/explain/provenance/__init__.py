"""Where each optimized node comes from and what became of each source node."""

from workbench.explain.provenance.account import Account, Change, SourceFate, Traced, account
from workbench.explain.provenance.same import same_graph
from workbench.explain.provenance.step import Step, trace_step

__all__ = ["Account", "Change", "SourceFate", "Step", "Traced", "account", "same_graph", "trace_step"]
