"""The file as a quantizer got it and as it left it: tensors and nodes of both have the same names."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workbench.config import Config, PreparedModel, StaticInt8
from workbench.errors import ConfigError
from workbench.measure.limits import OnProgress, Progress
from workbench.models.model import Model
from workbench.preparation.preparing import prepare


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
    """Prepared, with pre-processing on the float side."""
    precision = check_precision(config)
    tell = step_reporter(on_progress, "preparing")
    prepared = prepare(model, config, calibration=calibration, cancel=cancel, on_step=tell)
    files = (model, *prepared.stages)
    names = [step.name for step in prepared.steps]
    at = names.index(precision.LABEL) if precision.LABEL in names else len(names) - 1
    return BeforeAfter(files[at], files[at + 1], prepared.notes)


def step_reporter(on_progress: OnProgress, what: str) -> Callable[[str], None]:
    """Says what is done now, with the seconds since the start; how long it takes is not known."""
    began = time.perf_counter()

    def tell(step: str) -> None:
        elapsed_s = time.perf_counter() - began
        on_progress(Progress(f"{what}: {step}", 0, elapsed_s, elapsed_s, None, None))

    return tell


def check_precision(config: Config) -> Any:
    """The precision of a config; one without has no layers to look at."""
    if config.precision is None:
        raise ConfigError(
            "this config has no precision, so nothing of it was quantized",
            "give one: wb.Config(precision=wb.StaticInt8())",
        )
    return config.precision


def as_qdq(config: Config) -> tuple[Config, tuple[str, ...]]:
    """Integer operators keep no float tensors: the same ranges as Q and DQ nodes show the same errors."""
    precision = config.precision
    if not isinstance(precision, StaticInt8) or precision.format == "qdq":
        return config, ()
    note = "looked at in the form of Q and DQ nodes: integer operators leave no tensor to compare"
    return config.replace(precision=replace(precision, format="qdq")), (note,)


def takes_exclude(config: Config) -> Any:
    """The precision, where single nodes can be left out of it."""
    precision = check_precision(config)
    if isinstance(precision, PreparedModel) or not hasattr(precision, "exclude"):
        raise ConfigError(
            f"{precision.LABEL} cannot leave out single nodes",
            "use wb.StaticInt8(), wb.DynamicInt8() or wb.WeightOnly(), which have exclude=(…)",
        )
    return precision
