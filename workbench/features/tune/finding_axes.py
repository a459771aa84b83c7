"""The axes of the findings of a model: fixes that change the config, each as an option of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from workbench.core.bundle.goal import Goal, Objective
from workbench.core.config import Config
from workbench.core.models import Inputs, Model
from workbench.core.text import in_mib
from workbench.features.findings.gather import gather
from workbench.features.findings.look import look
from workbench.features.findings.record import FindingRecord
from workbench.features.tune.space import JOINED

MOST_BYTES = 256 << 20  # of a file; explaining and profiling a larger model takes as long as rounds do
OWN = ("free_dimensions",)  # chosen from the sizes that were given, not from guessed ones


def finding_axes(
    model: Model,
    inputs: Inputs,
    base: Config,
    goal: Goal,
    objectives: Sequence[Objective],
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> dict[str, tuple[Config, ...]]:
    """Return the fixes that are worth a try under these objectives, by axis.

    The model is explained, and profiled for a moment; a file of more than 256 MiB is not looked at.
    """
    if model.file_bytes > MOST_BYTES:
        on_step(f"findings are not looked for in a file of more than {in_mib(MOST_BYTES)}")
        return {}
    on_step("looking for findings")
    record = look(gather(model, base, inputs, calibration=calibration, cancel=cancel))
    return axes_of(record.large, base, goal, objectives)


def axes_of(
    findings: Iterable[FindingRecord], base: Config, goal: Goal, objectives: Sequence[Objective]
) -> dict[str, tuple[Config, ...]]:
    """Return the fixes of these findings that are worth a try under these objectives, by axis."""
    axes: dict[str, tuple[Config, ...]] = {}
    for finding in findings:
        change = change_of(finding, base) if finding.gain.subject in ("time", *objectives) else None
        if change is None or (change.precision is not None and not goal.allows_other_arithmetic):
            continue
        name = axis_of(finding, change)
        axes[name] = tuple(dict.fromkeys((*axes.get(name, ()), change)))
    return axes


def change_of(finding: FindingRecord, base: Config) -> Config | None:
    """Return what the fix adds to the base; None if it is no config, or takes something out of the base."""
    fixed = finding.fix.config
    if finding.fix.kind != "config" or fixed is None:
        return None
    before, after = base.changed(), fixed.changed()
    differing = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if not differing or differing & {*OWN} or not differing <= {*after}:
        return None
    values = {}
    for name in differing:
        added, held = after[name], before.get(name, ())
        if name in JOINED:
            if not {*held} <= {*added}:
                return None
            added = tuple(value for value in added if value not in held)
        values[name] = added
    return Config().replace(**values)


def axis_of(finding: FindingRecord, change: Config) -> str:
    """Return the name of the axis: the setting, or the finding whose fix has several."""
    (name, value), *others = change.changed().items()
    if others or (name in JOINED and len(value) > 1):
        return f"findings.{finding.id}"
    if name not in JOINED:
        return name
    return f"{name}.{value[0]}" if isinstance(value[0], str) else f"{name}.{value[0][0]}"
