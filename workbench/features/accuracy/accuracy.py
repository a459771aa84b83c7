"""The accuracy and the fidelity of configs of a model, evaluated on the same examples."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.run import labels_of
from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError, StorageError, WorkbenchError
from workbench.core.measure.limits import Limits, OnProgress
from workbench.core.models.declared import TensorType, declared_inputs
from workbench.core.models.model import Model
from workbench.core.prepare.examples import examples
from workbench.core.prepare.preparing import prepare
from workbench.features.accuracy.evaluate import EvaluatedConfig, evaluate
from workbench.features.accuracy.metrics import Metric, PerItem, find_metric
from workbench.features.accuracy.quantization_step import step_reporter
from workbench.features.accuracy.record import AccuracyRecord


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
    """Evaluate the configs against the first one; one that cannot be prepared is a row with the reason."""
    chosen_labels = tuple(labels) if labels else labels_of(len(configs))
    chosen_examples = examples(model, data, most=most, batch=batch_of(model, configs, batch), seed=seed)
    if chosen_examples.labels is None and metric is not None:
        raise ConfigError(
            f"metric={metric!r} needs labels, and there are none",
            "give data with labels: an .npz with an array 'labels', (feeds, labels), or a trained sample",
        )
    chosen_metric = None
    if chosen_examples.labels is not None:
        chosen_metric = find_metric(metric or chosen_examples.metric, output)
    evaluated = [
        evaluated_config(
            label, model, config, calibration=calibration, cancel=cancel, on_progress=on_progress
        )
        for label, config in zip(chosen_labels, configs, strict=True)
    ]
    return evaluate(
        evaluated, chosen_examples, model_name=model.name, metric=chosen_metric, scores=scores, limits=limits,
        cancel=cancel, on_progress=on_progress,
    )  # fmt: skip


def check_labels(
    model: Model, config: Config, data: Any, calibration: Any, cancel: threading.Event | None
) -> None:
    """Refuse labels that do not fit the outputs, which one run of a config tells, before anything long."""
    given = examples(model, data, batch=batch_of(model, (config,), None))
    if given.labels is not None:
        first = replace(given, feeds=given.feeds[:1], items=given.items[:1], labels=given.labels[:1])
        accuracy(model, (config,), data=first, calibration=calibration, cancel=cancel)


def evaluated_config(
    label: str,
    model: Model,
    config: Config,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_progress: OnProgress = lambda _: None,
) -> EvaluatedConfig:
    """Prepare the file of a config; `problem` says why it could not be prepared."""
    file, session, problem = model, config, None
    on_step = step_reporter(on_progress, label)
    try:
        prepared = prepare(model, config, calibration=calibration, cancel=cancel, on_step=on_step)
        file, session = prepared.model, prepared.config
    except (Cancelled, StorageError):
        raise
    except WorkbenchError as error:
        problem = str(error.problem)
    plan = session.plan().to_dict()
    return EvaluatedConfig(label, config_in_words(config), file, plan, config.runtime, problem)


def batch_of(model: Model, configs: Sequence[Config], asked: int | None) -> int | None:
    """Return the size that the configs fix for the first dimension of the inputs; None if none does."""
    first = {
        declared.type.dims[0]
        for declared in declared_inputs(model.structure)
        if isinstance(declared.type, TensorType) and declared.type.dims
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
