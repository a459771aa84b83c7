"""The file before and after quantization: tensors and nodes of both have the same names."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.config import Config, Float16, PreparedModel, StaticInt8
from workbench.core.errors import ConfigError
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.models.model import Model
from workbench.core.prepare.preparing import prepare


@dataclass(frozen=True, eq=False, slots=True)
class BeforeAfter:
    """Two files: before and after the step that changed the arithmetic."""

    before: Model
    after: Model
    notes: tuple[str, ...]


def before_and_after(
    model: Model,
    config: Config,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> BeforeAfter:
    """Prepare the config, and return the files around its precision step; pre-processing comes before it."""
    precision = check_precision(config)
    on_step = step_reporter(on_progress, "preparing")
    prepared = prepare(model, config, calibration=calibration, cancel=cancel, on_step=on_step)
    files = (model, *prepared.stages)
    names = [step.name for step in prepared.steps]
    at = names.index(precision.LABEL) if precision.LABEL in names else len(names) - 1
    return BeforeAfter(files[at], files[at + 1], prepared.notes)


def step_reporter(on_progress: OnProgress, subject: str) -> Callable[[str], None]:
    """Return a function that reports a step with the seconds since now; the end is not known."""
    began = time.perf_counter()

    def report(step: str) -> None:
        elapsed_s = time.perf_counter() - began
        on_progress(Progress(f"{subject}: {step}", 0, elapsed_s, elapsed_s, None, None))

    return report


def check_precision(config: Config) -> Any:
    """Return the precision of a config; refuse a config without one."""
    if config.precision is None:
        raise ConfigError(
            "this config has no precision, so nothing of it was quantized",
            "give one: wb.Config(precision=wb.StaticInt8())",
        )
    return config.precision


def as_qdq(config: Config) -> tuple[Config, tuple[str, ...]]:
    """Return the config with Q and DQ nodes, and a note; integer operators have no float tensors."""
    precision = config.precision
    if not isinstance(precision, StaticInt8) or precision.format == "qdq":
        return config, ()
    note = "compared in the form of Q and DQ nodes: integer operators have no float tensors"
    return config.replace(precision=replace(precision, format="qdq")), (note,)


def float_field(config: Config) -> str:
    """Return the field of the precision that names what stays in float; refuse a precision without one."""
    precision = check_precision(config)
    if isinstance(precision, PreparedModel):
        raise ConfigError(
            f"{precision.LABEL} cannot leave out single nodes",
            "use wb.StaticInt8(), wb.DynamicInt8() or wb.WeightOnly(), which have exclude=(…), or "
            "wb.Float16(), which has blocked_ops=(…)",
        )
    return "blocked_ops" if isinstance(precision, Float16) else "exclude"
