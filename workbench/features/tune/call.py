"""`wb.tune`: the best config for a goal, in bounded time; `wb.default_space`: what it varies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from workbench.core.bundle.goal import Goal, Objective, check_objectives
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.measure.bar import bar
from workbench.core.measure.limits import Limits, Progress, ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.prepare.real_data import data_from
from workbench.features.accuracy.accuracy import check_labels
from workbench.features.base.running import finding_inputs, inputs_of
from workbench.features.tune.default_space import default_space as space_of
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.result import Study
from workbench.features.tune.space import Space
from workbench.features.variants.worth import Ablation


@finding_inputs
def tune(
    model: Model | Any,
    space: Space | None = None,
    objective: Objective | Sequence[Objective] = "latency",
    limits: Goal | None = None,
    budget_s: float = 300.0,
    *,
    callers: int = 4,
    base: Config | None = None,
    inputs: Inputs | Any = None,
    calibration: Any = None,
    data: Any = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    seed: int = 0,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
    on_round: Callable[[Study], None] = lambda _: None,
) -> Study:
    """Search the best config for a goal, and prove it on fresh measurements.

    `space` is what may vary, by default what `default_space` finds worth trying for this model here.
    `objective` is what to improve: "latency", "p99", "throughput" (with `callers` at once), "memory", "load"
    or "file size". Several, such as `("latency", "error")`, span a Pareto front: the first one chooses the
    winner, and "accuracy" and "error" may stand beside it. `limits` are the bounds that a config must keep;
    other arithmetic takes part only with `Goal(max_accuracy_drop=…)`, on `data` or the model's own evaluation
    set, or with `Goal(max_error=…)`. `base` is the config that the search starts from and compares with, by
    default ORT's own. Each round is in the history as soon as it is measured, so that a study that was killed
    goes on with `continue_`. `on_round` gets the study so far after each round.
    """
    loaded, start = load(model), base or Config()
    goal, objectives = Goal.of(limits), _several(objective)
    check_objectives(objectives, callers)
    data = data_from(loaded, data, None)
    if goal.max_accuracy_drop is not None and data is not None:
        check_labels(loaded, start, data, calibration, cancel)
    given = None if inputs is None else inputs_of(loaded, inputs, seed)
    if space is None:
        fed = inputs_of(loaded, given, seed, (start,), calibration)
        with bar(progress) as on_progress:
            space = space_of(
                loaded,
                fed,
                base=start,
                goal=goal,
                objectives=objectives,
                pacing_s=pacing_s,
                calibration=calibration,
                cancel=cancel,
                on_step=lambda step: on_progress(Progress(step, 0, 0.0, budget_s, None, None)),
            )
    precisions = [option for axis in space.axes for option in axis.options if option.precision is not None]
    measured_on = inputs_of(loaded, given, seed, (start, *precisions), calibration)
    request = StudyRequest(
        model=loaded.with_inputs(measured_on),
        inputs=measured_on,
        space=space,
        base=start,
        objective=objectives[0],
        further=objectives[1:],
        callers=callers,
        goal=goal,
        budget_s=budget_s,
        smallest_effect=smallest_effect,
        pacing_s=pacing_s,
        calibration=calibration,
        data=data,
        seed=seed,
        limits=worker_limits or Limits(),
    )
    request.check()
    return Study.searched(request, progress=progress, cancel=cancel, keep=keep, on_round=on_round)


def _several(objective: Objective | Sequence[Objective]) -> tuple[Objective, ...]:
    return (objective,) if isinstance(objective, str) else tuple(objective)


@finding_inputs
def default_space(
    model: Model | Any,
    *,
    base: Config | None = None,
    objective: Objective | Sequence[Objective] = "latency",
    limits: Goal | None = None,
    inputs: Inputs | Any = None,
    pacing_s: float | None = None,
    calibration: Any = None,
    ablation: Ablation | None = None,
    seed: int = 0,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Space:
    """Return what `tune` would vary: `default_space(model).without("level").including(…)` changes it.

    The model is explained and profiled for a moment, so that what its findings name takes part. Passes that
    `ablation`, a result of `wb.ablate`, found to cost time take part, too.
    """
    goal = Goal.of(limits)
    loaded = load(model)
    return space_of(
        loaded,
        inputs_of(loaded, inputs, seed, (base or Config(),), calibration),
        base=base,
        goal=goal,
        objectives=_several(objective),
        pacing_s=pacing_s,
        calibration=calibration,
        harmful=() if ablation is None else ablation.record.hurts,
        cancel=cancel,
        on_step=on_step,
    )


def tune_within(
    model: Model | Any,
    without: Sequence[str] = (),
    cluster: str | None = None,
    target: str | None = None,
    **asked: Any,
) -> Study:
    """Tune without some settings, here or on a machine of a cluster."""
    from workbench.features.remote.calls import connected, on

    if target and cluster is None:
        raise ConfigError("--target needs a cluster", "give the address of its scheduler: --cluster ADDRESS")
    if without or cluster is None:
        names = ("base", "objective", "limits", "inputs", "seed", "calibration")
        known = {name: asked[name] for name in names if name in asked}
        asked["space"] = default_space(model, **known).without(*without)
    if cluster is None:
        return tune(model, **asked)
    with connected(cluster) as client:
        study: Study = on(client, target).tune(model, **asked)
        return study
