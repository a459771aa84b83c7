"""`wb.measure`: one config of one model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.goal import PrecisionGoal, check_percentiles
from workbench.core.measure.limits import Limits, Progress
from workbench.core.measure.measurement import MeasurementRecord
from workbench.core.models import Model
from workbench.core.prepare.replayed import replayed
from workbench.core.text import quoted
from workbench.features.base.running import (
    PRECISION,
    Feeds,
    finding_inputs,
    inputs_of,
    kept,
    measure_runs,
    opened_for,
)
from workbench.features.measure.result import Measurement

PERCENTILES = (50.0, 90.0, 95.0, 99.0)
_PATIENCE = 6.0  # times the default budget: about a minute for a small model
MOST_PRECISION = 1.0


@finding_inputs
def measure(
    model: Model | Any,
    config: Config | None = None,
    *,
    percentiles: Sequence[float] | float = PERCENTILES,
    until: Literal["settled"] | None = None,
    precision: float = PRECISION,
    inputs: Feeds = None,
    budget_s: float | None = None,
    pacing_s: float | None = None,
    calibration: Any = None,
    seed: int = 0,
    allow_fallback: bool = False,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
) -> Measurement:
    """Measure one config: mean and percentiles, throughput, first run, load and memory, with intervals.

    By default measuring ends when the median is known within `precision` (5 %). `until="settled"` goes on
    until each of the `percentiles` is, or the budget ends: by default about a minute for a small model, more
    for a slow one. `budget_s` bounds the time, `pacing_s` leaves that pause before each run, as requests that
    arrive now and then would. A config none of whose nodes would run on a provider that it asks for is an
    error, unless `allow_fallback=True`. `keep` adds the result to the history. Ctrl-C or `cancel` stop it
    and leave no process behind.
    """
    began = time.perf_counter()
    check_seed(seed)
    wanted = check_percentiles(percentiles)
    if until not in (None, "settled"):
        raise ConfigError(f"until={quoted(until)} is no end", 'give "settled", or leave it out')
    allowed = "give a share above 0 and up to 1: 0.05 is 5 % of the percentile to each side"
    check_number("precision", precision, allowed, most=MOST_PRECISION)
    chosen = Config() if config is None else config
    loaded = opened_for(model, (chosen,), "wb.measure(model, wb.Config(…))")
    calibration = replayed(calibration)
    fed = inputs_of(loaded, inputs, seed, (chosen,), calibration)
    settled = until == "settled"
    goal = PrecisionGoal(wanted, precision, _PATIENCE) if settled else PrecisionGoal((50.0,), precision)
    measured = measure_runs(
        loaded,
        (chosen,),
        fed,
        progress=progress,
        cancel=cancel,
        limits=limits,
        budget_s=budget_s,
        pacing_s=pacing_s,
        calibration=calibration,
        seed=seed,
        allow_fallback=allow_fallback,
        goal=goal,
        began=began,
    )
    record = MeasurementRecord(wanted, precision, settled, measured)
    result = Measurement(record, structure=loaded.structure.SerializeToString())
    return kept(result.with_model(loaded, fed, calibration), keep)
