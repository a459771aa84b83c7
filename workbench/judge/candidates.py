"""Prepare each config's model file before measuring; a preparation that fails is that config's failure."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from workbench.config import Config
from workbench.errors import Cancelled, StorageError, WorkbenchError
from workbench.judge.compare_request import CompareRequest
from workbench.judge.tolerance import least_sqnr_db
from workbench.measure.candidate import Candidate
from workbench.models.model import Model
from workbench.preparation.feeds import cast_feeds
from workbench.preparation.preparing import Prepared, prepare
from workbench.records.run import Failure
from workbench.worker.values import Feed, write_values


def make_candidates(
    request: CompareRequest,
    folder: Path,
    *,
    on_step: Callable[[str], None] = lambda _: None,
    cancel: threading.Event | None = None,
) -> tuple[Candidate, ...]:
    """Return one candidate a config, in their order, the baseline first."""
    feeds = folder / "feeds"
    write_values(feeds, request.feeds)
    return tuple(_candidate(request, index, feeds, on_step, cancel) for index in range(len(request.configs)))


def _candidate(
    request: CompareRequest,
    index: int,
    feeds: Path,
    on_step: Callable[[str], None],
    cancel: threading.Event | None,
) -> Candidate:
    label, config = request.labels[index], request.configs[index]
    slow_down = request.slow_downs[index] if request.slow_downs else 0.0
    model, left, preparation, failure = request.model, config, None, None
    file = request.source
    if file is not None or config.changes_model:
        try:
            prepared = _prepared(request, config, lambda step: on_step(f"{label}: {step}"), cancel)
            feeds = _feeds_for(prepared.model, request.feeds, feeds, label)
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
        plan=left.plan().to_dict(),
        feeds=feeds,
        interpreter=config.interpreter,
        slow_down=slow_down,
        least_sqnr_db=None if failure is not None else least_sqnr_db(config, file),
        preparation=preparation,
        failure=failure,
    )


def _prepared(
    request: CompareRequest,
    config: Config,
    on_step: Callable[[str], None],
    cancel: threading.Event | None,
) -> Prepared:
    source = request.source or Model(request.model, request.model_name)
    return prepare(source, config, calibration=request.calibration, cancel=cancel, on_step=on_step)


def _feeds_for(model: Model, feeds: Sequence[Feed], common: Path, label: str) -> Path:
    """Return the file of the feeds, or of a copy in the types that the prepared model takes."""
    cast = cast_feeds(feeds, model)
    if cast is feeds:
        return common
    own = common.with_name(f"{common.name}-{label}")
    write_values(own, cast)
    return own
