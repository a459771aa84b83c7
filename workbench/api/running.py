"""A request made of a model, configs and inputs, and measured: what every measuring function calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.background import in_background
from workbench.config import Config
from workbench.errors import ConfigError
from workbench.judge.compare import compare
from workbench.judge.compare_request import CompareRequest
from workbench.measurement.bar import bar
from workbench.measurement.limits import Limits, Progress
from workbench.preparation.inputs import real_inputs
from workbench.records.comparison import ComparisonRecord
from workbench.text import quoted

if TYPE_CHECKING:
    from workbench.models import Inputs, Model

    Feeds: TypeAlias = Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None


def check_config(config: Any, example: str) -> None:
    """Refuse what is no config."""
    if not isinstance(config, Config):
        raise ConfigError(f"{quoted(config)} is no config", f"give wb.Config(…) values: {example}")


def inputs_of(
    model: Model, inputs: Any, seed: int, configs: Sequence[Config] = (), calibration: Any = None
) -> Inputs:
    """Return the inputs as given, or by default real examples where the model has some, else random ones."""
    from workbench.models import Inputs

    if isinstance(inputs, Inputs):
        return inputs
    if inputs is None and (real := real_inputs(model, configs, calibration)) is not None:
        return real
    return model.inputs(inputs, seed=seed) if inputs is not None else model.inputs(seed=seed)


def measure_runs(
    model: Model,
    configs: tuple[Config, ...],
    inputs: Inputs,
    *,
    progress: bool | Callable[[Progress], None],
    cancel: threading.Event | None,
    limits: Limits | None,
    **options: Any,
) -> ComparisonRecord:
    """Measure the configs together; `options` are further fields of the request."""
    with (
        bar(progress) as on_progress,
        # A large file is hashed while the first worker starts and loads.
        in_background(model.record, "hash of the model", cancel) as hashing,
    ):
        request = CompareRequest(
            model=model.path,
            source=model,
            model_name=model.name,
            model_bytes=model.graph_bytes + sum(file.size_bytes for file in model.external),
            model_record=hashing.result,
            configs=configs,
            feeds=inputs.feeds,
            inputs=inputs.record(),
            limits=limits or Limits(),
            **options,
        )
        return compare(request, on_progress=on_progress, cancel=cancel)
