"""The accuracy and the fidelity of configs of a model: each prepared, then evaluated on the same examples."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.analysis.fidelity.evaluate import EvaluatedConfig, evaluate
from workbench.analysis.fidelity.metrics import Metric, PerItem, find_metric
from workbench.analysis.fidelity.quantization_step import step_reporter
from workbench.config import Config
from workbench.errors import Cancelled, ConfigError, StorageError, WorkbenchError
from workbench.measure.limits import Limits, OnProgress
from workbench.models.declared import TensorType, declared_inputs
from workbench.models.examples import examples
from workbench.models.model import Model
from workbench.preparation.preparing import prepare
from workbench.records.display import config_in_words
from workbench.records.fidelity import AccuracyRecord


def accuracy(
    model: Model,
    configs: Sequence[Config],
    *,
    data: Any = None,
    metric: str | PerItem | Metric | None = None,
    output: str | None = None,
    scores: Mapping[str, bool] | None = None,
    calibration: Any = None,
    most: int | None = None,
    batch: int | None = None,
    seed: int = 0,
    labels: Sequence[str] | None = None,
    limits: Limits | None = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> AccuracyRecord:
    """The first config is the baseline; one that cannot be prepared is a row that says why."""
    told = tuple(labels) if labels else labels_of(len(configs))
    found = examples(model, data, most=most, batch=batch_of(model, configs, batch), seed=seed)
    if found.labels is None and metric is not None:
        raise ConfigError(
            f"metric={metric!r} needs labels, and there are none",
            "give data with labels: an .npz with an array 'labels', (feeds, labels), or a trained sample",
        )
    chosen = find_metric(metric or found.metric, output) if found.labels is not None else None
    subjects = [
        subject(label, model, config, calibration=calibration, cancel=cancel, on_progress=on_progress)
        for label, config in zip(told, configs, strict=True)
    ]
    return evaluate(
        subjects, found, model_name=model.name, metric=chosen, scores=scores, limits=limits, cancel=cancel,
        on_progress=on_progress,
    )  # fmt: skip


def subject(
    label: str,
    model: Model,
    config: Config,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> EvaluatedConfig:
    """A config with its file made; what cannot be made stands in `problem`."""
    words, tell = config_in_words(config), step_reporter(on_progress, label)
    try:
        prepared = prepare(model, config, calibration=calibration, cancel=cancel, on_step=tell)
    except (Cancelled, StorageError):
        raise
    except WorkbenchError as error:
        return EvaluatedConfig(
            label, words, model, config.plan().to_dict(), config.runtime, problem=str(error.problem)
        )
    return EvaluatedConfig(label, words, prepared.model, prepared.config.plan().to_dict(), config.runtime)


def labels_of(count: int) -> tuple[str, ...]:
    """A, B, … as a comparison calls them."""
    return tuple(f"{chr(ord('A') + index % 26)}{index // 26 or ''}" for index in range(count))


def batch_of(model: Model, configs: Sequence[Config], asked: int | None) -> int | None:
    """The size that a config fixes for the first dimension, which then holds for all of them."""
    first = {
        one.type.dims[0]
        for one in declared_inputs(model.structure)
        if isinstance(one.type, TensorType) and one.type.dims
    }
    fixed = {size for config in configs for name, size in config.free_dimensions if name in first}
    if asked is not None:
        fixed.add(asked)
    if len(fixed) > 1:
        raise ConfigError(
            f"the configs fix the first dimension to {', '.join(map(str, sorted(fixed)))}",
            "evaluate those with the same size together",
        )
    return fixed.pop() if fixed else None
