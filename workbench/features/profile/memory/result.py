"""Memory over one run, node by node."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.measured import PerRun
from workbench.features.profile.examining import execute, profile_of_run
from workbench.features.profile.memory.by_node import MEMORY_BUDGET_S, MemoryRecord, memory_as_asked


class Memory(PerRun):
    """Memory over one run, node by node. Made by `wb.memory`."""

    kind = "memory"
    record: MemoryRecord


def examine(run: ExaminedRun) -> MemoryRecord:
    """Profile once more without the memory pattern, which hides each node's own allocations."""
    as_asked = profile_of_run(run)
    run.announce("memory")
    by_node = execute(run, budget_s=MEMORY_BUDGET_S, per_node_memory=True)
    return memory_as_asked(by_node, as_asked)


FEATURE = Feature(
    "memory",
    MemoryRecord,
    result=Memory,
    chart="workbench.features.profile.memory.chart:memory_chart",
    figure="workbench.features.profile.memory.chart:memory_figure",
    per="run",
    side_by_side=True,
    fact="memory",
    heading="Memory",
    call="workbench.features.profile.calls:memory",
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    button="Memory by node",
    hint="One run of each config with ORT's profiler: what is held and alive at each node",
    effort=(2.0, 4, 4),
    tabs=("Memory and start",),
    key="node",
)
