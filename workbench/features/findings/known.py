"""Facts of one config of one model that exist before the rules look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.run import Run
from workbench.core.prepare.runnable import Runnable
from workbench.features.explain.explanation import Explained
from workbench.features.profile.session_profile import SessionProfile


@dataclass(frozen=True, kw_only=True, eq=False)
class Known:
    """Facts that already exist for the same config of the same model; each may be missing.

    Those without a type are the records of features, under the `fact` that each feature declares.
    """

    explained: Explained | None = None
    profile: SessionProfile | None = None
    runnable: Runnable | None = None
    run: Run | None = None
    comparison: ComparisonRecord | None = None  # that the run is of
    cold: Any = None
    memory: Any = None
    scaling: Any = None
    layers: Any = None
    sensitivity: Any = None
    worth: Any = None
    roofline: Any = None
    accuracy: Any = None
    label: str = "A"  # of the config in the comparison, the accuracy and the agreement
    pacing_s: float | None = None  # the pause before each run
