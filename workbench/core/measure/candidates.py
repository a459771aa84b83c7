"""The preparation of each config before measuring: its model file and what its worker needs to know.

A failed preparation fails that config alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.bundle.run import Failure
from workbench.core.config import Config
from workbench.core.config.engine_script import openvino_settings
from workbench.core.config.engines import OpenVino
from workbench.core.errors import Cancelled, ConfigError, StorageError, WorkbenchError
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.tolerance import least_sqnr_db
from workbench.core.models.declared import declared_inputs, declared_outputs
from workbench.core.models.model import Model
from workbench.core.models.samples import sample_names
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.values import Feed, write_values


def make_candidates(
    request: CompareRequest,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> tuple[Candidate, ...]:
    """Return one candidate per config in the same order, the baseline first."""
    feeds = folder / "feeds"
    write_values(feeds, request.feeds)
    slow_downs = request.slow_downs or (0.0,) * len(request.configs)
    return tuple(
        make_candidate(request, label, config, feeds, slow_down=slow_down, on_step=on_step, cancel=cancel)
        for label, config, slow_down in zip(request.labels, request.configs, slow_downs, strict=True)
    )


def make_candidate(
    request: CompareRequest,
    label: str,
    config: Config,
    feeds: Path,
    *,
    slow_down: float = 0.0,
    on_step: Callable[[str], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> Candidate:
    """Return one config ready to measure; `feeds` is where the request's feeds were written."""
    model, left, preparation, failure = request.model, config, None, None
    file = request.source
    if file is not None or config.changes_model:
        try:
            runnable = make_runnable(
                request.source or Model(request.model, request.model_name),
                config,
                request.feeds,
                calibration=request.calibration,
                cancel=cancel,
                on_step=lambda step: on_step(f"{label}: {step}"),
            )
            prepared = runnable.prepared
            if runnable.feeds is not request.feeds:
                feeds = feeds.with_name(f"{feeds.name}-{label}")
                write_values(feeds, runnable.feeds)
            left, preparation, file = prepared.config, prepared.record, prepared.model
            model = file.path
        except (Cancelled, StorageError):
            raise
        except WorkbenchError as error:
            failure = Failure("prepare", error.problem, error.fix, "")
    return Candidate(
        label=label,
        config=config,
        model=model,
        plan=worker_plan(config, left, file, request.feeds),
        feeds=feeds,
        interpreter=config.interpreter,
        engine=None if config.engine is None else config.engine.KIND,
        slow_down=slow_down,
        least_sqnr_db=None if failure is not None else least_sqnr_db(config, file),
        preparation=preparation,
        allow_fallback=request.allow_fallback,
        failure=failure,
    )


def worker_plan(asked: Config, left: Config, model: Model | None, feeds: Sequence[Feed]) -> dict[str, Any]:
    """Return the body of the worker's `load`: `left` is what the preparation left of the config asked for."""
    return left.plan().to_dict() if asked.engine is None else engine_plan(asked, model, feeds)


def engine_plan(config: Config, model: Model | None, feeds: Sequence[Feed]) -> dict[str, Any]:
    """Return the engine's options, the names of inputs and outputs and the shapes of the feeds, as JSON."""
    import sample_models

    if model is None:
        raise ConfigError("another engine needs an opened model", "give wb.load(path), not a path alone")
    engine = config.engine
    return {
        "engine": {} if engine is None else engine.changed(),
        "settings": openvino_settings(engine, config.intra_op_threads)
        if isinstance(engine, OpenVino)
        else {},
        "threads": config.intra_op_threads,
        "inputs": [value.name for value in declared_inputs(model.structure)],
        "outputs": [value.name for value in declared_outputs(model.structure)],
        "shapes": {name: list(np.shape(value)) for name, value in feeds[0].items()},
        "sample": model.name if model.name in sample_names() else None,
        "samples": str(Path(sample_models.__file__).parent),
    }
