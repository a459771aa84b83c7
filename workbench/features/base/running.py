"""A request made of a model, configs and inputs, and measured: what every measuring function calls."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

from workbench.core.background import in_background
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError, StorageError, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.compare import compare
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.finding_inputs import with_running_inputs
from workbench.core.measure.goal import PrecisionGoal
from workbench.core.measure.limits import Limits, OnProgress, Progress, ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.models.fit import check_fit
from workbench.core.prepare.calibration import real_inputs
from workbench.core.prepare.real_data import inputs_from
from workbench.core.prepare.replayed import replayed
from workbench.core.text import did_you_mean, quoted
from workbench.features.base.result import Result

_LEAST_BUDGET_S = 0.1  # a measurement that nothing of the budget is left for still has one round

Measure: TypeAlias = Callable[[OnProgress, float | None], ComparisonRecord]


@dataclass(frozen=True, slots=True)
class Turn:
    """One of several measurements: its name for the progress bar, and the call that makes it."""

    name: str
    measure: Measure


def measured_in_turn(
    parts: Sequence[Turn],
    on_progress: OnProgress,
    budget_s: float | None,
) -> Iterator[tuple[ComparisonRecord | None, str | None]]:
    """Yield each measurement, or None and the reason why nothing of it could run."""
    began = time.perf_counter()
    for index, part in enumerate(parts):
        share_s = None
        if budget_s is not None:
            left_s = budget_s - (time.perf_counter() - began)
            share_s = max(left_s / (len(parts) - index), _LEAST_BUDGET_S)
        tell = partial_progress(on_progress, part.name, index, len(parts), began)
        try:
            yield part.measure(tell, share_s), None
        except (Cancelled, ConfigError, StorageError):
            raise
        except WorkbenchError as error:
            yield None, error.problem


def partial_progress(on_progress: OnProgress, name: str, index: int, count: int, began: float) -> OnProgress:
    """Return a callback that reports the progress of one of several measurements as a part of all."""

    def tell(progress: Progress) -> None:
        on_progress(
            replace(
                progress,
                doing=f"{name} ({index + 1} of {count}): {progress.doing}",
                elapsed_s=time.perf_counter() - began,
                fraction=(index + (progress.fraction or 0.0)) / count,
                remaining_s=None,
                samples=(),
            )
        )

    return tell


Feeds: TypeAlias = Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None

PRECISION = 0.05  # of a percentile: half the width of its interval

K = TypeVar("K", bound=Result)
P = ParamSpec("P")
R = TypeVar("R")


def check_configs(configs: Iterable[Any], example: str) -> None:
    """Refuse what is no config."""
    for config in configs:
        if not isinstance(config, Config):
            raise ConfigError(f"{quoted(config)} is no config", f"give wb.Config(…) values: {example}")


def opened_for(model: Any, configs: Sequence[Config], example: str) -> Model:
    """Open the model; refuse what is no config or does not fit it."""
    check_configs(configs, example)
    loaded = load(model)
    for config in configs:
        check_fit(loaded, config)
    return loaded


def opened_with(model: Any, inputs: Feeds, seed: int) -> tuple[Model, Inputs]:
    """Return the model that will run on these inputs, and the inputs."""
    loaded = load(model)
    fed = inputs_from(loaded, inputs, seed=seed)
    return loaded.with_inputs(fed), fed


def inputs_of(
    model: Model, inputs: Any, seed: int, configs: Sequence[Config] = (), calibration: Any = None
) -> Inputs:
    """Return the inputs as given, or by default real examples where the model has some, else random ones."""
    if inputs is None and (real := real_inputs(model, configs, calibration)) is not None:
        return real
    return inputs_from(model, inputs, seed=seed)


def sized_as(model: Model, data: Any) -> Model:
    """Return the model as random data size it, for a calibration without data of its own."""
    is_random = isinstance(data, Inputs) and data.seed is not None
    return model.with_inputs(data) if is_random else model


def check_keywords(name: str, taken: Signature, given: Mapping[str, Any]) -> None:
    """Refuse keywords that the call does not take; where it takes any, `limits` alone."""
    stars: dict[object, str] = {Parameter.VAR_POSITIONAL: "*", Parameter.VAR_KEYWORD: "**"}
    names = [f"{stars.get(parameter.kind, '')}{parameter.name}" for parameter in taken.parameters.values()]
    takes_any = names[-1].startswith("**")
    for wrong in given:
        if wrong in names or (takes_any and wrong != "limits"):
            continue
        guess = did_you_mean(wrong, names)
        if wrong == "limits":
            guess = "Bounds of a worker process are worker_limits=wb.Limits(…). "
        raise ConfigError(f"wb.{name} takes no {quoted(wrong)}", f"{guess}It takes {', '.join(names)}")


def finding_inputs(function: Callable[P, R]) -> Callable[P, R]:
    """Call the function, and once more where its random inputs failed and others that run were found.

    Examples that an iterator or a reader gives are kept: every config reads all of them.
    """

    taken = signature(function)

    @wraps(function)
    def call(*args: P.args, **options: P.kwargs) -> R:
        check_keywords(function.__name__, taken, options)
        configs = [value for value in (*args[1:], *options.values()) if isinstance(value, Config)]
        cancel: Any = options.get("cancel")
        source: Any = args[0] if args else options.get("model", options.get("subject"))
        again: Any = function
        held = {name: replayed(value) for name, value in options.items() if name in ("calibration", "data")}

        def run(inputs: Any) -> R:
            changed = held if inputs is None else {**held, "inputs": inputs}
            result: R = again(*args, **{**options, **changed})
            return result

        if isinstance(source, Result):  # a deployment has its inputs
            return run(None)

        def opened() -> Model:
            return load(source[0] if isinstance(source, tuple) else source)

        config = configs[0] if configs else None
        return with_running_inputs(run, opened, options.get("inputs"), config, cancel)

    return call


@contextmanager
def request_for(
    model: Model,
    configs: Sequence[Config],
    inputs: Inputs,
    *,
    progress: ShowProgress,
    cancel: threading.Event | None,
    limits: Limits | None,
    **options: Any,
) -> Iterator[tuple[CompareRequest, OnProgress]]:
    """Yield the request and its progress bar; `options` are further fields of the request."""
    with (
        bar(progress) as on_progress,
        # A large file is hashed while the first worker starts and loads.
        in_background(model.record, "hash of the model", cancel) as hashing,
    ):
        changes = {"model_record": hashing.result, "limits": limits or Limits(), **options}
        yield CompareRequest.of(model, configs, inputs, **changes), on_progress


def measure_runs(
    model: Model,
    configs: Sequence[Config],
    inputs: Inputs,
    *,
    cancel: threading.Event | None,
    **options: Any,
) -> ComparisonRecord:
    """Measure the configs together, and one alone until its median is known.

    `options` are those of `request_for`.
    """
    if len(configs) == 1:
        options.setdefault("goal", PrecisionGoal((50.0,), PRECISION))
    with request_for(model, configs, inputs, cancel=cancel, **options) as (request, on_progress):
        return compare(request, on_progress=on_progress, cancel=cancel)


def kept(result: K, keep: bool) -> K:
    """Return the result, added to the history if it is to be kept."""
    if keep:
        result.keep()
    return result
