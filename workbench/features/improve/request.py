"""What to improve, and what is measured for it: findings, accuracy, and a config against the first one."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.core.measure.bar import steps as shown_steps
from workbench.core.measure.limits import Progress
from workbench.core.models import Inputs, Model
from workbench.features.accuracy.call import accuracy
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison
from workbench.features.findings.gather import gather
from workbench.features.findings.look import look
from workbench.features.findings.result import Findings, FixTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class ImproveRequest:
    """What to improve, within which limits, until when."""

    model: Model
    inputs: Inputs
    start: Config
    limits: Goal
    until: float  # on the clock of time.monotonic
    most_search_s: float
    without: tuple[str, ...] = ()
    data: Any = None
    calibration: Any = None
    seed: int = 0
    progress: bool | Callable[[Progress], None] = True
    cancel: threading.Event | None = None
    on_step: Callable[[str], None] | None = None
    keep: bool = True

    def findings_of(self, config: Config) -> Findings:
        """Return the findings of a config."""
        with shown_steps(self.on_step, self.progress) as report:
            report("looking for findings")
            evidence = gather(
                self.model, config, self.inputs, calibration=self.calibration,
                cancel=self.cancel, on_step=report,
            )  # fmt: skip
        target = FixTarget(self.model, self.inputs, self.calibration)
        return Findings.made({"A": look(evidence)}, None, target)

    def evaluate(self, config: Config) -> AccuracyRecord:
        """Set a config beside the first one, so that the drops of several changes add up."""
        table = accuracy(
            self.model, self.start, config, data=self.data, calibration=self.calibration,
            progress=self.progress, cancel=self.cancel, keep=False,
        )  # fmt: skip
        return table.record

    def compare_with_start(self, config: Config, budget_s: float, seed: int) -> Comparison:
        """Measure the first config and this one in turn."""
        comparison: Comparison = compare(
            self.model, self.start, config, inputs=self.inputs, calibration=self.calibration,
            seed=seed, budget_s=budget_s, progress=self.progress, cancel=self.cancel, keep=self.keep,
        )  # fmt: skip
        return comparison
