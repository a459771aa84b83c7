"""Facts of one config of one model that exist before the rules look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.core.prepare.runnable import Runnable
from workbench.features.accuracy.layers_record import LayerErrorsRecord
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.accuracy.sensitivity_record import SensitivityRecord
from workbench.features.explain.explanation import Explained
from workbench.features.memory.by_node import MemoryRecord
from workbench.features.profile.roofline.node_limits import RooflineRecord
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.variants.threads import ThreadScalingRecord
from workbench.features.variants.worth import WorthRecord

if TYPE_CHECKING:
    from workbench.features.cold_start.starts import ColdStartRecord


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """Facts that already exist for the same config of the same model; each may be missing."""

    explained: Explained | None = None
    profile: SessionProfile | None = None
    runnable: Runnable | None = None
    run: Run | None = None
    comparison: ComparisonRecord | None = None  # that the run is of
    cold: ColdStartRecord | None = None
    memory: MemoryRecord | None = None
    scaling: ThreadScalingRecord | None = None
    layers: LayerErrorsRecord | None = None
    sensitivity: SensitivityRecord | None = None
    worth: WorthRecord | None = None
    roofline: RooflineRecord | None = None
    accuracy: AccuracyRecord | None = None
    label: str = "A"  # of the config in the comparison, the accuracy and the agreement
    pacing_s: float | None = None  # the pause before each run
