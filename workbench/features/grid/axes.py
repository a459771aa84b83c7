"""The axes of a grid, free dimensions of the model or knobs of the config, and a first try of each size."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from workbench.core.bounds import check_number
from workbench.core.bundle.display import config_in_words
from workbench.core.config import Config
from workbench.core.config.fields import BY_FIELD, SHORT_NAMES
from workbench.core.errors import ConfigError, InputError, RunFailed, WorkerError
from workbench.core.measure.candidates import worker_plan
from workbench.core.measure.limits import Limits
from workbench.core.models import Model
from workbench.core.models.sizes import free_names, is_batch
from workbench.core.prepare.runnable import cast_feeds, make_runnable
from workbench.core.text import did_you_mean, listed, quoted, shorten
from workbench.core.worker.launch import Worker, WorkerFolder
from workbench.core.worker.values import Feed, write_values
from workbench.features.grid.record import GridAxis, Series

DEFAULT_BATCHES = (1, 4, 16)
MOST_VALUES = 64  # of an axis
_MOST_POINTS = 100
MOST_CONFIGS = 24  # measured together at each point

Sizes: TypeAlias = tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Axes:
    """What is swept: the sizes of each point, and the configs that are measured at each of them."""

    axes: tuple[GridAxis, ...]
    sizes: tuple[Sizes, ...]
    configs: tuple[Config, ...]
    series: tuple[Series, ...]  # what each config is


def axes_of(model: Model, configs: Sequence[Config], asked: Mapping[str, Any]) -> Axes:
    """Return the axes; refuse names that are neither a free dimension nor a knob, and unusable values."""
    dims = free_names(model.structure)
    sizes: dict[str, tuple[int, ...]] = {}
    knobs: dict[str, tuple[str, tuple[Any, ...]]] = {}
    for name, given in (asked or _default_sizes(model, dims)).items():
        values = _values(name, given)
        dim = _dim(name, dims)
        if dim is not None:
            sizes[dim] = tuple(_size(name, value) for value in values)
        elif (field := SHORT_NAMES.get(name, name)) in BY_FIELD:
            if other := next((other for other, (turned, _) in knobs.items() if turned == field), None):
                raise ConfigError(f"{other} and {name} are the same knob", f"leave {name} out")
            knobs[name] = (field, values)
        else:
            raise _unknown(name, model, dims)
    _check_free(configs, sizes)
    series, measured = _series(configs, knobs)
    points = tuple(tuple(zip(sizes, point, strict=True)) for point in product(*sizes.values()))
    if len(points) > _MOST_POINTS or len(measured) > MOST_CONFIGS:
        raise ConfigError(
            f"{len(points):,} points with {len(measured):,} configs each are too many",
            f"give at most {_MOST_POINTS} points and {MOST_CONFIGS} configs; measure the rest another time",
        )
    axes = [GridAxis(name, "size", tuple(map(str, values))) for name, values in sizes.items()]
    axes += [
        GridAxis(name, "knob", tuple(_in_words(field, value) for value in values))
        for name, (field, values) in knobs.items()
    ]
    return Axes(tuple(axes), points, measured, series)


def _default_sizes(model: Model, dims: Iterable[str]) -> dict[str, tuple[int, ...]]:
    batch = next((dim for dim in dims if is_batch(dim)), None)
    if batch is None:
        raise ConfigError(
            f"{shorten(model.name)} has no batch that could be swept by default, and no axis was given",
            f"name one: {_choices(dims)}",
        )
    return {batch: DEFAULT_BATCHES}


def _dim(name: str, dims: Sequence[str]) -> str | None:
    """Return the dimension of this name, or the only one that begins with it."""
    if name in dims:
        return name
    if SHORT_NAMES.get(name, name) in BY_FIELD:
        return None
    beginning = [dim for dim in dims if dim.startswith(name)]
    return beginning[0] if len(beginning) == 1 else None


def _values(name: str, given: Any) -> tuple[Any, ...]:
    is_list = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    values = tuple(given) if is_list else (given,)
    repeated = any(value in values[:index] for index, value in enumerate(values))
    if not 0 < len(values) <= MOST_VALUES or repeated:
        raise ConfigError(
            f"{shorten(name)}={quoted(given)} is no axis",
            f"give 1 to {MOST_VALUES} values, each once: {shorten(name)}=(1, 8, 32)",
        )
    return values


def _size(name: str, value: Any) -> int:
    fix = f"give whole numbers from 1 up: {shorten(name)}=(1, 8, 32)"
    check_number(shorten(name), value, fix, what="size", least=1, whole=True)
    return int(value)


def _unknown(name: str, model: Model, dims: Sequence[str]) -> ConfigError:
    known = (*dims, *SHORT_NAMES, *BY_FIELD)
    return ConfigError(
        f"{shorten(model.name)} has no free dimension {shorten(name)!r}, and no knob has that name",
        f"{did_you_mean(name, known)}{_choices(dims)}",
    )


def _choices(dims: Iterable[str]) -> str:
    names = list(dims)
    free = f"its free dimensions are {listed(names)}" if names else "all its dimensions are fixed"
    return f"{free}; knobs are the fields of wb.Config, such as threads=(1, 2, 4)"


def _check_free(configs: Sequence[Config], sizes: Mapping[str, Any]) -> None:
    for config in configs:
        for name, size in config.free_dimensions:
            if name in sizes:
                raise ConfigError(
                    f"a config fixes {shorten(name)!r} at {size}, and it is to be swept",
                    "leave it out of free_dimensions",
                )


def _series(
    configs: Sequence[Config], knobs: Mapping[str, tuple[str, tuple[Any, ...]]]
) -> tuple[tuple[Series, ...], tuple[Config, ...]]:
    """Return each config with each combination of the knobs' values."""
    series, made = [], []
    for config in configs:
        for values in product(*(values for _, values in knobs.values())):
            fields = {field: value for (field, _), value in zip(knobs.values(), values, strict=True)}
            turned = tuple(
                (name, _in_words(field, value))
                for (name, (field, _)), value in zip(knobs.items(), values, strict=True)
            )
            series.append(Series(config_in_words(config), turned))
            made.append(config.replace(**fields))
    return tuple(series), tuple(made)


def _in_words(field: str, value: Any) -> str:
    knob = BY_FIELD[field]
    return knob.words(knob.canonical(value))


def check_sizes(
    model: Model,
    config: Config,
    points: Iterable[tuple[str, Sequence[Feed]]],
    *,
    limits: Limits,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> None:
    """Run the feeds of each named point once in one worker; raise InputError where one is refused.

    A session of ONNX Runtime is made once; another engine may be built for the shapes of its feeds.
    """
    runnable = make_runnable(model, config, (), calibration=calibration, cancel=cancel, on_step=on_step)
    with WorkerFolder() as folder:
        worker = Worker(
            folder,
            name="sizes",
            python=config.interpreter,
            memory_bytes=limits.memory_bytes,
            engine=None if config.engine is None else config.engine.KIND,
        )
        with worker:
            worker.hello(timeout_s=limits.start_s, cancel=cancel)
            path, loaded = folder / "feeds", None
            for name, feeds in points:
                on_step(f"trying {name}")
                plan = worker_plan(config, runnable.config, runnable.model, feeds)
                if plan != loaded:
                    loaded, session = plan, {"model": str(runnable.model.path), "plan": plan}
                    worker.request("load", session, stage="load", timeout_s=limits.load_s, cancel=cancel)
                write_values(path, cast_feeds(feeds, runnable.model))
                body = {"feeds": str(path)}
                try:
                    worker.request(
                        "first_run", body, stage="first run", timeout_s=limits.run_s, cancel=cancel
                    )
                except (RunFailed, WorkerError) as error:
                    raise InputError(
                        f"{shorten(model.name)} cannot run at {name}: {error.problem}",
                        f"leave these sizes out, or give sizes that belong together; {error.fix}",
                    ) from error
