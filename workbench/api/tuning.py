"""`wb.tune`: the best config for a goal, in bounded time; `wb.default_space`: what it varies."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from workbench.api.running import inputs_of
from workbench.config import Config, DynamicInt8
from workbench.measurement.bar import bar
from workbench.measurement.limits import Limits, Progress
from workbench.models import Inputs, Model, load
from workbench.preparation.replayed import replayed
from workbench.records.goal import Goal, Objective, check_objectives
from workbench.records.space import Space
from workbench.results.study import Study, cluster_of
from workbench.results.target_studies import TargetStudies, search_targets
from workbench.search.default_space import default_space as space_of
from workbench.search.request import StudyRequest

if TYPE_CHECKING:
    from distributed import Client

    from workbench.results.ablation import Ablation


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
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
    client: Client | None = None,
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
    goes on with `continue_`. `client` is that of a Dask cluster: the study runs on one of its machines, whose
    default space it is. `on_round` gets the study so far after each round.

    >>> import workbench as wb
    >>> wb.tune.__name__
    'tune'
    """
    request = _request(
        model, space, objective, limits, budget_s, callers=callers, base=base, inputs=inputs,
        calibration=calibration, data=data, smallest_effect=smallest_effect, pacing_s=pacing_s, seed=seed,
        progress=progress, cancel=cancel, worker_limits=worker_limits, is_local=client is None,
    )  # fmt: skip
    cluster = None if client is None else cluster_of(client)
    return Study.searched(
        request, progress=progress, cancel=cancel, keep=keep, cluster=cluster, on_round=on_round
    )


def tune_targets(
    model: Model | Any,
    targets: Sequence[str],
    client: Client,
    *search: Any,
    progress: bool | Callable[[Progress], None] = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
    **options: Any,
) -> TargetStudies:
    """Search the best config on several kinds of machine of a Dask cluster at once: a study each.

    A target is a tag of workers: a resource that they were started with, such as "small-machines", "GPU", a
    flag of the CPU ("AVX512_VNNI"), or a provider that works there. `search` and `options`
    are further arguments of `tune`, such as the space and `budget_s`.

    >>> import workbench as wb
    >>> wb.tune_targets.__name__
    'tune_targets'
    """
    request = _request(model, *search, progress=progress, cancel=cancel, is_local=False, **options)
    return search_targets(request, cluster_of(client), targets, progress=progress, cancel=cancel, keep=keep)


def _request(
    model: Model | Any,
    space: Space | None = None,
    objective: Objective | Sequence[Objective] = "latency",
    limits: Goal | None = None,
    budget_s: float = 300.0,
    *,
    is_local: bool,
    progress: bool | Callable[[Progress], None],
    cancel: threading.Event | None,
    callers: int = 4,
    base: Config | None = None,
    inputs: Inputs | Any = None,
    calibration: Any = None,
    pacing_s: float | None = None,
    seed: int = 0,
    worker_limits: Limits | None = None,
    **options: Any,
) -> StudyRequest:
    """Return the request; its space stays empty if the default one is to be made on another machine.

    `options` are further fields of the request: data, smallest_effect.
    """
    loaded, start, calibration = load(model), base or Config(), replayed(calibration)
    goal = limits or Goal()
    goal.check()
    objectives = _several(objective)
    check_objectives(objectives, callers)
    fed = inputs_of(loaded, inputs, seed, (start,), calibration)
    if space is None and is_local:
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
    axes = () if space is None else space.axes
    precisions = [option for axis in axes for option in axis.options if option.precision is not None]
    if space is None and goal.allows_other_arithmetic:
        precisions = [Config(precision=DynamicInt8())]
    request = StudyRequest(
        model=loaded,
        inputs=inputs_of(loaded, inputs, seed, (start, *precisions), calibration),
        space=space or Space(),
        base=start,
        objective=objectives[0],
        further=objectives[1:],
        callers=callers,
        goal=goal,
        budget_s=budget_s,
        pacing_s=pacing_s,
        calibration=calibration,
        seed=seed,
        limits=worker_limits or Limits(),
        **options,
    )
    request.check(needs_space=space is not None)
    return request


def _several(objective: Objective | Sequence[Objective]) -> tuple[Objective, ...]:
    return (objective,) if isinstance(objective, str) else tuple(objective)


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
) -> Space:
    """Return what `tune` would vary: `default_space(model).without("level").including(…)` changes it.

    Passes that `ablation`, a result of `wb.ablate`, found to cost time take part.

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
        objectives=_several(objective),
        pacing_s=pacing_s,
        calibration=calibration,
        harmful=() if ablation is None else ablation.record.hurts,
        cancel=cancel,
    )
