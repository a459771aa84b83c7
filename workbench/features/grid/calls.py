"""`wb.sweep` and `wb.matrix`: configs at several sizes of a model, or on several models."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path, PurePath
from typing import Any

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.origin import Origin
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.errors import ConfigError, InputError, RunFailed, WorkbenchError
from workbench.core.measure.bar import bar
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.finding_inputs import with_running_inputs
from workbench.core.measure.limits import Limits, OnProgress, Progress, ShowProgress
from workbench.core.models import Inputs, Model, load
from workbench.core.models.fit import check_fit
from workbench.core.prepare.replayed import replayed
from workbench.core.stored_files import expanded
from workbench.core.text import one_line, path_text, public_address, quoted
from workbench.features.base.result import origin_of
from workbench.features.base.running import (
    Feeds,
    Turn,
    check_configs,
    finding_inputs,
    inputs_of,
    kept,
    measure_runs,
    measured_in_turn,
    opened_for,
)
from workbench.features.compare.call import open as open_bundle
from workbench.features.grid.axes import Sizes, axes_of, check_sizes
from workbench.features.grid.matrix import Matrix, MatrixRecord
from workbench.features.grid.record import Place, Series, size_text
from workbench.features.grid.sweep import Sweep, SweepRecord

_EXAMPLE = "wb.sweep(model, wb.Config(…), batch=(1, 8, 32))"


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
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
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
    """
    check_seed(seed)
    chosen = configs or (Config(),)
    loaded = opened_for(model, chosen, _EXAMPLE)
    swept = axes_of(loaded, chosen, {**(sizes or {}), **axes})
    has_sizes = swept.sizes != ((),)
    if inputs is not None and has_sizes:
        raise InputError(
            "inputs were given, and they have their own sizes",
            "leave inputs out: random ones are made at each size; or sweep knobs alone",
        )

    def inputs_at(point: Sizes) -> Inputs:
        if point:
            return loaded.draw(seed, dict(point))
        return inputs_of(loaded, inputs, seed, swept.configs, calibration)

    def part_at(point: Sizes) -> Turn:
        def measure(on_progress: OnProgress, budget_s: float | None) -> ComparisonRecord:
            return measure_runs(
                loaded, swept.configs, inputs_at(point), budget_s=budget_s, progress=on_progress,
                cancel=cancel, limits=worker_limits, calibration=calibration, pacing_s=pacing_s,
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
                limits=worker_limits or Limits(),
                calibration=calibration,
                cancel=cancel,
                on_step=lambda step: on_progress(Progress(step, 0, 0.0, 0.0, None, None)),
            )
        measured = measured_in_turn([part_at(point) for point in swept.sizes], on_progress, budget_s)
        sized = zip(swept.sizes, measured, strict=True)
        points = tuple(Place(loaded.name, None, point, *outcome) for point, outcome in sized)
    record = SweepRecord(swept.axes, swept.configs, swept.series, points)
    about = origin_of(loaded, chosen[0], cancel=cancel)
    result = Sweep(record, about, structure=loaded.structure.SerializeToString())
    result.of_models({loaded.name: loaded}, {loaded.name: calibration})
    return kept(result, keep)


def matrix(
    models: Iterable[Model | Any],
    configs: Iterable[Config],
    *,
    inputs: Any = None,
    calibration: Any = None,
    file: str | os.PathLike[str] | None = None,
    budget_s: float | None = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    seed: int = 0,
    allow_fallback: bool = False,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Matrix:
    """Measure every model under every config: one comparison a model, the first config is its baseline.

    What fails is a cell with its reason. `inputs` is what `model.inputs` takes, and `calibration` what static
    int8 measures its ranges on (see `wb.prepare`): one for every model, or a dict by the models as given,
    where a model without an entry takes the default. `file` is a bundle that is written after each model:
    called again with the same file, models that it holds are not measured again. `budget_s` bounds the time
    of all models together; by default each takes what a comparison would.
    """
    check_seed(seed)
    sources, chosen = _listed(models, "models"), tuple(_listed(configs, "configs"))
    check_configs(chosen, "wb.matrix(models, [wb.Config(), wb.Config(…)])")
    before = {} if file is None else _earlier(expanded(file), chosen)
    about = origin_of(None)
    opened: dict[int, tuple[Model, str]] = {}
    calibrations: dict[int, Any] = {}
    titles = [_title(source) for source in sources]
    inputs_by, calibration_by = by_model(inputs, titles), by_model(calibration, titles)

    def part_of(index: int, source: Any) -> Turn:
        def measure(on_progress: OnProgress, budget_s: float | None) -> ComparisonRecord:
            def run(given: Any) -> ComparisonRecord:
                return measure_with(given, on_progress, budget_s)

            return with_running_inputs(run, lambda: load(source), inputs_by[titles[index]], cancel=cancel)

        def measure_with(given: Any, on_progress: OnProgress, budget_s: float | None) -> ComparisonRecord:
            model = load(source)
            opened[index] = (model, model.fingerprint(cancel))
            _check_fits(model, chosen)
            calibrated = calibrations[index] = calibration_by[titles[index]]
            fed = inputs_of(model, given, seed, chosen, calibrated)
            earlier = before.get(model.sha256)
            if earlier is not None and earlier.inputs.shapes == fed.record().shapes:
                return earlier
            return measure_runs(
                model, chosen, fed, budget_s=budget_s, progress=on_progress, cancel=cancel,
                limits=worker_limits, calibration=calibrated, pacing_s=pacing_s,
                smallest_effect=smallest_effect, seed=seed, allow_fallback=allow_fallback,
            )  # fmt: skip

        return Turn(one_line(titles[index], 40), measure)

    rows: list[Place] = []
    names: list[str] = []
    with bar(progress) as on_progress:
        parts = [part_of(index, source) for index, source in enumerate(sources)]
        for measured, problem in measured_in_turn(parts, on_progress, budget_s):
            index = len(rows)
            model, sha256 = opened.get(index, (None, None))
            rows.append(Place(titles[index] if model is None else model.name, sha256, (), measured, problem))
            names = distinct_names([row.model for row in rows], sources)
            if file is not None:
                _result(chosen, rows, names, about).save(file)
    held = {names[index]: model for index, (model, _) in opened.items()}
    calibrated = {names[index]: calibration for index, calibration in calibrations.items()}
    return kept(_result(chosen, rows, names, about).of_models(held, calibrated), keep)


def sorted_matrix(*models: str, configs: Sequence[Config], sort: str | None = None, **options: Any) -> Matrix:
    """Measure the matrix, and order its models by the speed-up of a config."""
    labels = labels_of(len(configs))
    if sort is not None and sort.upper() not in labels:
        raise ConfigError(f"--sort {sort!r} names no config", f"the letters are A to {labels[-1]}")
    made = matrix(models, configs, **options)
    return made if sort is None else made.sorted_by(sort.upper())


def distinct_names(names: Sequence[str], sources: Sequence[Any]) -> list[str]:
    """Return a name for each model that no other has: `a/model` and `b/model` of two files `model.onnx`.

    Models that their folders do not tell apart are numbered.
    """
    paths = [(*_folders(source), name) for name, source in zip(names, sources, strict=False)]
    distinct: list[str] = []
    for path in paths:
        depth = 1
        while depth < len(path) and sum(other[-depth:] == path[-depth:] for other in {*paths}) > 1:
            depth += 1
        text = "/".join(path[-depth:])
        numbered = (f"{text} ({number})" for number in count(2))
        distinct.append(next(name for name in chain([text], numbered) if name not in distinct))
    return distinct


def _title(source: Any) -> str:
    """Return what a model is called until it is open; bytes and a ModelProto would be their whole text."""
    name = getattr(source, "name", source)
    return public_address(str(name)) if isinstance(name, str | os.PathLike) else type(source).__name__


def _folders(source: Any) -> tuple[str, ...]:
    place = source.path if isinstance(source, Model) else source
    return PurePath(public_address(str(place))).parent.parts if isinstance(place, str | os.PathLike) else ()


def by_model(value: Any, models: Sequence[str]) -> dict[str, Any]:
    """Return an argument for each model: the same, or its entry in a dict by the models as given, or None."""
    if isinstance(value, Mapping) and value and set(value) <= set(models):
        return {model: replayed(value.get(model)) for model in models}
    return dict.fromkeys(models, replayed(value))


def _result(
    configs: tuple[Config, ...], rows: Sequence[Place], names: Sequence[str], about: Origin
) -> Matrix:
    named = (replace(row, model=name) for row, name in zip(rows, names, strict=True))
    series = tuple(Series(config_in_words(config)) for config in configs)
    return Matrix(MatrixRecord((), configs, series, tuple(named)), about)


def _check_fits(model: Model, configs: tuple[Config, ...]) -> None:
    """Make a config that does not fit the model a failure of this model alone."""
    try:
        for config in configs:
            check_fit(model, config)
    except ConfigError as error:
        raise RunFailed(error.problem, error.fix) from error


def _listed(values: Any, what: str) -> list[Any]:
    if isinstance(values, str | bytes | os.PathLike | Config) or not isinstance(values, Iterable):
        raise ConfigError(f"{quoted(values)} is no list of {what}", f"give a list of {what}")
    items = list(values)
    if not items:
        raise ConfigError(f"there are no {what}", f"give a list of {what}")
    return items


def _earlier(file: Path, configs: tuple[Config, ...]) -> dict[str, ComparisonRecord]:
    """Return what the file holds of each model, by its hash; refuse a file about other configs."""
    if not file.exists():
        return {}
    try:
        kept = open_bundle(file)
    except WorkbenchError as error:
        raise ConfigError(f"{path_text(file)} cannot be continued: {error.problem}", error.fix) from error
    if not isinstance(kept, Matrix) or kept.record.configs != configs:
        raise ConfigError(
            f"{path_text(file)} holds no matrix of these configs", "give another file, or the same configs"
        )
    return {row.sha256: row.measured for row in kept.record.places if row.sha256 and row.measured is not None}
