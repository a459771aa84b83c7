"""What to improve, and what is measured for it: findings, accuracy, and a config against the first one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.core.measure.bar import steps as shown_steps
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Inputs, Model
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.accuracy.result import accuracy
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison
from workbench.features.findings.gather import gather
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.result import Findings, FixTarget
from workbench.features.findings.rule import look
from workbench.features.improve.judging import changes_arithmetic
from workbench.features.tune.axes import axis_of, change_of
from workbench.features.tune.default_space import default_space
from workbench.features.tune.space import Dimension, Space, merged


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
    progress: ShowProgress = True
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


def why_not_tried(request: ImproveRequest, record: FindingRecord, config: Config) -> str:
    """Return why the fix of a finding of this config is not tried; nothing if it is."""
    if record.is_small:
        return "predicted below the bar"
    if record.fix.config is None or record.fix.kind != "config":
        return f"to be done by hand: {record.fix.text}"
    if changes_arithmetic(record, config) and not request.limits.allows_other_arithmetic:
        return "it changes the arithmetic: give limits=wb.Goal(max_accuracy_drop=…) to try it"
    change = change_of(record, config)
    if change is not None and request.without:
        names = {axis_of(record, change), *change.changed()}
        fixed = [name for name in request.without if any(_is_of(name, axis) for axis in names)]
        if fixed:
            return f"it changes {fixed[0]}, which may not vary"
    return ""


def space_around(
    request: ImproveRequest, config: Config, findings: Sequence[FindingRecord], tried: set[Config | None]
) -> Space:
    """Return what may vary around a config, without the configs that were tried already."""
    with shown_steps(request.on_step, request.progress) as report:
        space = default_space(
            request.model, request.inputs, base=config, goal=request.limits,
            calibration=request.calibration, findings=findings, cancel=request.cancel, on_step=report,
        )  # fmt: skip
    has_other_arithmetic = config.precision != request.start.precision
    fixed = [*request.without, *(["precision"] if has_other_arithmetic else [])]
    names = [axis.name for axis in space.axes]
    space = space.without(*(name for name in fixed if any(_is_of(name, axis) for axis in names)))
    known = {config, *tried}
    axes = (
        Dimension(axis.name, tuple(o for o in axis.options if merged(config, o) not in known))
        for axis in space.axes
    )
    starts = tuple(start for start in space.starts if merged(config, start) not in known)
    return Space(tuple(axis for axis in axes if axis.options), starts)


def _is_of(name: str, axis: str) -> bool:
    """Return whether an axis is this setting or a value of it."""
    return axis == name or axis.startswith(f"{name}.")
