"""The preparation of each config's model file before measuring; a failed preparation fails that config."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from workbench.config import Config
from workbench.errors import Cancelled, StorageError, WorkbenchError
from workbench.judge.compare_request import CompareRequest
from workbench.judge.engine_plan import engine_plan
from workbench.judge.tolerance import least_sqnr_db
from workbench.measurement.candidate import Candidate
from workbench.models.model import Model
from workbench.preparation.runnable import make_runnable
from workbench.records.run import Failure
from workbench.worker.values import write_values


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
            model, left, preparation, file = (
                prepared.model.path,
                prepared.config,
                prepared.record,
                prepared.model,
            )
        except (Cancelled, StorageError):
            raise
        except WorkbenchError as error:
            failure = Failure("prepare", error.problem, error.fix, "")
    return Candidate(
        label=label,
        config=config,
        model=model,
        plan=left.plan().to_dict() if config.engine is None else engine_plan(config, file, request.feeds),
        feeds=feeds,
        interpreter=config.interpreter,
        engine=None if config.engine is None else config.engine.KIND,
        slow_down=slow_down,
        least_sqnr_db=None if failure is not None else least_sqnr_db(config, file),
        preparation=preparation,
        failure=failure,
    )
