"""`wb.tune`: the best config for a goal, in bounded time; `wb.default_space`: what it varies."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.api.running import inputs_of
from workbench.config import Config
from workbench.measurement.bar import bar
from workbench.measurement.limits import Limits, Progress
from workbench.models.loading import load
from workbench.preparation.replayed import replayed
from workbench.records.goal import Goal, Objective
from workbench.records.space import Space
from workbench.results.study import Study
from workbench.search.default_space import default_space as space_of
from workbench.search.request import StudyRequest

if TYPE_CHECKING:
    from workbench.models import Inputs, Model

__all__ = ["Goal", "Space", "Study", "default_space", "tune"]


def tune(
    model: Model | Any,
    space: Space | None = None,
    objective: Objective = "latency",
    limits: Goal | None = None,
    budget_s: float = 300.0,
    *,
    base: Config | None = None,
    inputs: Inputs | Any = None,
    calibration: Any = None,
    data: Any = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    seed: int = 0,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Study:
    """Search the best config for a goal, and prove it on fresh measurements.

    `space` is what may vary, by default what `default_space` finds worth trying for this model here.
    `objective` is what to minimize: "latency", "p99", "memory", "load" or "file size". `limits` are the
    bounds that a config must keep; other arithmetic takes part only with `Goal(max_accuracy_drop=…)`, on
    `data` or the model's own evaluation set, or with `Goal(max_error=…)`. `base` is the config that the
    search starts from and compares with, by default ORT's own. Each round is in the history as soon as it
    is measured, so that a study that was killed goes on with `continue_`.

    >>> import workbench as wb
    >>> wb.tune.__name__
    'tune'
    """
    loaded, start, calibration = load(model), base or Config(), replayed(calibration)
    goal = limits or Goal()
    goal.check()
    fed = inputs_of(loaded, inputs, seed, (start,), calibration)
    if space is None:
        with bar(progress) as on_progress:
            space = space_of(
                loaded,
                fed,
                base=start,
                goal=goal,
                objective=objective,
                pacing_s=pacing_s,
                calibration=calibration,
                cancel=cancel,
                on_step=lambda step: on_progress(Progress(step, 0, 0.0, budget_s, None, None)),
            )
    precisions = [option for axis in space.axes for option in axis.options if option.precision is not None]
    request = StudyRequest(
        model=loaded,
        inputs=inputs_of(loaded, inputs, seed, (start, *precisions), calibration),
        space=space,
        base=start,
        objective=objective,
        goal=goal,
        budget_s=budget_s,
        smallest_effect=smallest_effect,
        pacing_s=pacing_s,
        calibration=calibration,
        data=data,
        seed=seed,
        limits=worker_limits or Limits(),
    )
    return Study.searched(request, progress=progress, cancel=cancel, keep=keep)


def default_space(
    model: Model | Any,
    *,
    base: Config | None = None,
    objective: Objective = "latency",
    limits: Goal | None = None,
    inputs: Inputs | Any = None,
    pacing_s: float | None = None,
    calibration: Any = None,
    seed: int = 0,
    cancel: threading.Event | None = None,
) -> Space:
    """Return what `tune` would vary: `default_space(model).without("level").including(…)` changes it.

    >>> import workbench as wb
    >>> wb.default_space.__name__
    'default_space'
    """
    loaded, calibration = load(model), replayed(calibration)
    return space_of(
        loaded,
        inputs_of(loaded, inputs, seed, (base or Config(),), calibration),
        base=base,
        goal=limits,
        objective=objective,
        pacing_s=pacing_s,
        calibration=calibration,
        cancel=cancel,
    )
