"""Facts of one config of one model that exist before the rules look."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.core.prepare.runnable import Runnable
from workbench.features.accuracy.layers_record import LayerErrorsRecord
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.accuracy.sensitivity_record import SensitivityRecord
from workbench.features.cold_start.starts import ColdStartRecord
from workbench.features.explain.explanation import Explained
from workbench.features.memory.by_node import MemoryRecord
from workbench.features.profile.session_profile import Profile
from workbench.features.variants.ablation import AblationRecord
from workbench.features.variants.thread_scaling import ThreadScalingRecord


@dataclass(frozen=True, kw_only=True, eq=False)
class Facts:
    """What rules read as it is; each may be missing."""

    explained: Explained | None = None
    run: Run | None = None
    cold: ColdStartRecord | None = None
    memory: MemoryRecord | None = None
    scaling: ThreadScalingRecord | None = None
    layers: LayerErrorsRecord | None = None
    sensitivity: SensitivityRecord | None = None
    ablation: AblationRecord | None = None
    accuracy: AccuracyRecord | None = None
    label: str = "A"  # of the config in the comparison, the accuracy and the agreement
    pacing_s: float | None = None  # the pause before each run


@dataclass(frozen=True, kw_only=True)
class Known(Facts):
    """Facts that already exist for the same config of the same model, also those that rules do not read."""

    profile: Profile | None = None
    comparison: ComparisonRecord | None = None  # that the run is of
    runnable: Runnable | None = None

    def for_rules(self) -> dict[str, Any]:
        """Return the facts that rules read, by name."""
        return {field.name: getattr(self, field.name) for field in fields(Facts)}
