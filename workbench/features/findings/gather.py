"""Collection of evidence for the rules: an explanation, a profile, the weights and already known facts."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.config import Config
from workbench.core.errors import Cancelled, WorkbenchError
from workbench.core.measure.machine import read_machine
from workbench.core.models.declared import declared_inputs
from workbench.core.models.inputs import Inputs
from workbench.core.models.model import Model
from workbench.core.models.sizes import free_dims
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker import log
from workbench.features.accuracy.accuracy import accuracy
from workbench.features.accuracy.layers import debug
from workbench.features.accuracy.layers_record import LayerErrorsRecord
from workbench.features.explain.explanation import explain
from workbench.features.findings.evidence import Evidence, is_quantized
from workbench.features.findings.known import Known
from workbench.features.findings.weights import scan_weights
from workbench.features.profile.difference.matching import in_the_names_of
from workbench.features.profile.profiled_config import profiled_config, sharing_of
from workbench.features.profile.running import Execution, profile_execution

LAYERS_MOST_BYTES = 64 << 20  # of a model whose layer errors are made unasked, with all of its tensors


def gather(
    model: Model,
    config: Config,
    inputs: Inputs,
    *,
    known: Known | None = None,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    on_step: Callable[[str], None] = lambda _: None,
) -> Evidence:
    """Make the missing facts, the cheapest first, except what only a measurement tells.

    The layer errors are made of a quantized config of a small model only.
    """
    known = known or Known()
    runnable = known.runnable
    if runnable is None:
        on_step("preparation")
        runnable = make_runnable(model, config, inputs.feeds, calibration=calibration, cancel=cancel)
    on_step("weights")
    weights = scan_weights(runnable.model, cancel=cancel)
    source_weights = weights if runnable.model is model else scan_weights(model, cancel=cancel)
    profile, logged = known.profile, list[str]()
    if profile is None:
        on_step("profile")
        profile = profile_execution(Execution.of(runnable), cancel=cancel, on_log=logged.append)
    explained = known.explained
    if explained is None:
        on_step("explanation")
        explained = explain(model, config, calibration=calibration, cancel=cancel)
    layer_errors = known.layers
    if layer_errors is None and is_quantized(config) and model.description.size_bytes <= LAYERS_MOST_BYTES:
        on_step("layer errors")
        layer_errors = _layer_errors(model, config, calibration, cancel)
    joined = in_the_names_of(explained, profile)
    return Evidence(
        model_name=model.name,
        config=config,
        machine=read_machine(),
        structure=runnable.model.structure,
        profiled=profiled_config(joined),
        weights=weights,
        source_weights=source_weights,
        source_structure=model.structure,
        sharing=sharing_of(joined),
        log=known.run.log if known.run else tuple(log.parse(logged[0])) if logged else None,
        preparation=runnable.prepared.record,
        **{
            **facts_of_inputs(model, inputs),
            **vars(known),
            "explained": explained,
            "profile": profile,
            "layers": layer_errors,
            **_compared(known),
        },
    )


def known_accuracy(
    model: Model,
    config: Config,
    data: Any,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
) -> Known:
    """Evaluate the config on examples, beside the same one without its precision if it has one."""
    plain = config.replace(precision=None)
    configs = (config,) if plain == config else (plain, config)
    record = accuracy(model, configs, data=data, calibration=calibration, cancel=cancel)
    return Known(accuracy=record, label=record.labels[-1])


def facts_of_inputs(model: Model, inputs: Inputs) -> dict[str, Any]:
    """Return what the model and its inputs tell without a run: bytes, sizes, whether values are random."""
    return {
        "size_bytes": model.description.size_bytes,
        "sizes": measured_sizes(model, inputs),
        "feed_sizes": tuple(_sizes(model, feed) for feed in inputs.feeds),
        "random_inputs": not inputs.is_real,
    }


def measured_sizes(model: Model, inputs: Inputs) -> tuple[tuple[str, int], ...]:
    """Return the free dimensions by symbolic name, with their sizes in the first of the inputs."""
    return _sizes(model, next(iter(inputs.feeds), {}))


def _sizes(model: Model, feed: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    shapes = {name: tuple(getattr(value, "shape", ())) for name, value in feed.items()}
    sizes: dict[str, int] = {}
    for name, axis, dim in free_dims(declared_inputs(model.structure)):
        shape = shapes.get(name, ())
        if isinstance(dim, str) and axis < len(shape):
            sizes[dim] = shape[axis]
    return tuple(sizes.items())


def _layer_errors(
    model: Model, config: Config, calibration: Any, cancel: threading.Event | None
) -> LayerErrorsRecord | None:
    """Return the layer errors, or None where they cannot be made: rules then list them as missing."""
    try:
        return debug(model, config, calibration=calibration, cancel=cancel)
    except Cancelled:
        raise
    except WorkbenchError:
        return None


def _compared(known: Known) -> dict[str, Any]:
    """Return the label of the config, and what the comparison says of its run."""
    run, comparison = known.run, known.comparison
    if run is None or comparison is None:
        return {}
    return {
        "label": run.label,
        "baseline": comparison.runs[0].config,
        "verdict": next((verdict for verdict in comparison.verdicts if verdict.label == run.label), None),
        "agreement": tuple(row for row in comparison.agreement if row.label == run.label),
    }
