"""Memory pattern, arena and prepacking, each toggled alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.memory.settings import MemorySettingsRecord, check_settings
from workbench.results.registry import ResultKind
from workbench.results.result import Result

if TYPE_CHECKING:
    from workbench.figures.chart import Chart


class MemorySettings(Result):
    """Memory pattern, arena and prepacking, each toggled alone. Made by `wb.memory_settings`.

    >>> import workbench as wb
    >>> wb.MemorySettings.__name__
    'MemorySettings'
    """

    record: MemorySettingsRecord

    def chart(self) -> Chart:
        """Return memory and latency of each setting."""
        from workbench.figures.memory_settings import memory_settings_chart

        return memory_settings_chart(self.record)


KIND = ResultKind(
    "memory settings",
    MemorySettingsRecord,
    check_settings,
    None,
    result=MemorySettings,
    entry="workbench.api.profiling:memory_settings",
    takes=("inputs", "seed", "calibration", "progress"),
    heading="Memory settings, each toggled alone",
    button="Memory settings",
    hint="Memory pattern, arena and prepacking, each toggled alone; for the config shown",
    step="memory pattern, arena and prepacking, each toggled alone",
    tabs=("memory",),
)
