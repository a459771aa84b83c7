"""Memory pattern, arena and prepacking, each toggled alone."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.result import Result
from workbench.features.variants.memory_settings import MemorySettingsRecord, check_settings


class MemorySettings(Result):
    """Memory pattern, arena and prepacking, each toggled alone. Made by `wb.memory_settings`.

    >>> import workbench as wb
    >>> wb.MemorySettings.__name__
    'MemorySettings'
    """

    record: MemorySettingsRecord


FEATURE = Feature(
    "memory settings",
    MemorySettingsRecord,
    check_settings,
    result=MemorySettings,
    chart="workbench.features.memory.resources_chart:memory_settings_chart",
    call="workbench.features.profile.calls:memory_settings",
    takes=("inputs", "seed", "calibration", "progress"),
    heading="Memory settings, each toggled alone",
    button="Memory settings",
    hint="Memory pattern, arena and prepacking, each toggled alone; for the config shown",
    step="memory pattern, arena and prepacking, each toggled alone",
    tabs=("memory",),
)
