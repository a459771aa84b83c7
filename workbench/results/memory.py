"""Memory over one run, node by node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.memory.by_node import MEMORY_BUDGET_S, MemoryRecord, memory_as_asked
from workbench.results.examining import ExaminedRun
from workbench.results.per_run import PerRun
from workbench.results.registry import ResultKind

if TYPE_CHECKING:
    import plotly.graph_objects as go


class Memory(PerRun):
    """Memory over one run, node by node. Made by `wb.memory`.

    >>> import workbench as wb
    >>> wb.Memory.__name__
    'Memory'
    """

    kind = "memory"
    record: MemoryRecord
    charted_by = "workbench.figures.resources:memory_chart"

    def figure(self) -> go.Figure | None:
        """Draw memory over the nodes of the run; several runs side by side."""
        from workbench.figures.memory import memory_figure

        return memory_figure(self.by_label)


def examine(run: ExaminedRun) -> MemoryRecord:
    """Profile once more without the memory pattern, which hides each node's own allocations."""
    as_asked = run.profile()
    run.announce("memory")
    by_node = run.execute(budget_s=MEMORY_BUDGET_S, per_node_memory=True)
    return memory_as_asked(by_node, as_asked)


KIND = ResultKind(
    "memory",
    MemoryRecord,
    result=Memory,
    scope="run",
    entry="workbench.api.profiling:memory",
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    button="Memory by node",
    hint="One run of each config with ORT's profiler: what is held and alive at each node",
    tabs=("memory",),
    key="node",
)
