"""`wb.sweep`: configs at several sizes, or at several values of a knob."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.config import Config
from workbench.core.errors import InputError
from workbench.core.measure.bar import bar
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.limits import Limits, OnProgress, Progress
from workbench.core.models import Inputs, Model
from workbench.core.models.generate import random_inputs
from workbench.core.prepare.replayed import replayed
from workbench.features.base.in_turn import Turn, measured_in_turn
from workbench.features.base.result import origin_of
from workbench.features.base.running import Feeds, finding_inputs, inputs_of, kept, measure_runs, opened_for
from workbench.features.grid.size_check import check_sizes
from workbench.features.grid.sweep import SweepPoint, SweepRecord, size_text
from workbench.features.grid.sweep_axes import Sizes, axes_of
from workbench.features.grid.sweep_result import Sweep

EXAMPLE = "wb.sweep(model, wb.Config(…), batch=(1, 8, 32))"


@finding_inputs
def sweep(
    model: Model | Any,
    *configs: Config,
    sizes: Mapping[str, Any] | None = None,
    inputs: Feeds = None,
    budget_s: float | None = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    calibration: Any = None,
    seed: int = 0,
    allow_fallback: bool = False,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
    **axes: Any,
) -> Sweep:
    """Measure configs at each combination of sizes, and at each value of knobs.

    An axis is a free dimension of the model by its name, or the only one that begins with it
    (`batch=(1, 8, 32)`), or a field of `wb.Config` (`threads=(1, 2, 4)`, `level=("basic", "all")`); without
    any, the batch. Names that are no names of Python stand in `sizes={"x.0": (1, 8)}`. At each point all
    configs are compared, interleaved, and the first one is the baseline; one config alone is measured until
    its median is known. Every size is tried once before anything is measured. `budget_s` bounds the time of
    all points together; by default each takes what a comparison would. A point that fails keeps its reason.

    >>> import workbench as wb
    >>> wb.sweep.__name__
    'sweep'
    """
    check_seed(seed)
    chosen = configs or (Config(),)
    loaded = opened_for(model, chosen, EXAMPLE)
    swept = axes_of(loaded, chosen, {**(sizes or {}), **axes})
    has_sizes = swept.sizes != ((),)
    if inputs is not None and has_sizes:
        raise InputError(
            "inputs were given, and they have their own sizes",
            "leave inputs out: random ones are made at each size; or sweep knobs alone",
        )
    calibration = replayed(calibration)

    def inputs_at(point: Sizes) -> Inputs:
        if point:
            return random_inputs(loaded.structure, loaded.name, seed, dict(point), loaded.usual)
        return inputs_of(loaded, inputs, seed, swept.configs, calibration)

    def part_at(point: Sizes) -> Turn:
        def measure(on_progress: OnProgress, budget_s: float | None) -> ComparisonRecord:
            return measure_runs(
                loaded, swept.configs, inputs_at(point), budget_s=budget_s, progress=on_progress,
                cancel=cancel, limits=limits, calibration=calibration, pacing_s=pacing_s,
                smallest_effect=smallest_effect, seed=seed,
                allow_fallback=allow_fallback,
            )  # fmt: skip

        return Turn(size_text(point), measure)

    with bar(progress) as on_progress:
        if has_sizes:
            check_sizes(
                loaded,
                swept.configs[0],
                ((size_text(point), inputs_at(point).feeds) for point in swept.sizes),
                limits=limits or Limits(),
                calibration=calibration,
                cancel=cancel,
                on_step=lambda step: on_progress(Progress(step, 0, 0.0, 0.0, None, None)),
            )
        measured = measured_in_turn([part_at(point) for point in swept.sizes], on_progress, budget_s)
        points = tuple(
            SweepPoint(point, *outcome) for point, outcome in zip(swept.sizes, measured, strict=True)
        )
    record = SweepRecord(loaded.name, swept.axes, chosen, swept.series, points)
    about = origin_of(loaded, chosen[0], cancel=cancel)
    result = Sweep(record, about, structure=loaded.structure.SerializeToString())
    result.of_models({loaded.name: loaded}, {loaded.name: calibration})
    return kept(result, keep)
