"""What an improvement may try: which fixes, and what the search around them varies."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.core.config import Config
from workbench.core.measure.bar import steps as shown_steps
from workbench.features.findings.record import FindingRecord
from workbench.features.improve.judging import changes_arithmetic
from workbench.features.improve.request import ImproveRequest
from workbench.features.tune.default_space import default_space
from workbench.features.tune.finding_axes import axis_of, change_of
from workbench.features.tune.space import Dimension, Space, merged


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
