"""Each config's model file made ready before measuring; what cannot be is a failure of that config."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.config import Config
from workbench.errors import Cancelled, WorkbenchError
from workbench.judge.compare_request import Question
from workbench.measure.limits import OnProgress, Progress
from workbench.models.model import Model
from workbench.preparation.feeds import cast_feeds
from workbench.preparation.preparing import prepare
from workbench.records.preparation import Preparation
from workbench.records.run import Failure
from workbench.worker.values import Feed, write_values


@dataclass(frozen=True, slots=True)
class Ready:
    """What the worker of one config is given."""

    model: Path
    config: Config  # what is left to tell ORT
    feeds: Path
    preparation: Preparation | None = None
    failure: Failure | None = None


def make_ready(
    question: Question, folder: Path, *, on_progress: OnProgress, cancel: threading.Event | None
) -> tuple[Ready, ...]:
    """One a config, in their order."""
    feeds = folder / "feeds"
    write_values(feeds, question.feeds)
    began = time.perf_counter()
    made = []
    for label, config in zip(question.labels, question.configs, strict=True):

        def tell(step: str, label: str = label) -> None:
            elapsed_s = time.perf_counter() - began
            on_progress(Progress(f"{label}: {step}", 0, elapsed_s, elapsed_s, None, None))

        made.append(_ready(question, label, config, feeds, tell, cancel))
    return tuple(made)


def _ready(
    question: Question,
    label: str,
    config: Config,
    feeds: Path,
    tell: Callable[[str], None],
    cancel: threading.Event | None,
) -> Ready:
    source = question.source
    if source is None and not config.prepares:
        return Ready(question.model, config, feeds)
    try:
        source = source or Model(question.model, question.model_name)
        prepared = prepare(source, config, calibration=question.calibration, cancel=cancel, on_step=tell)
        feeds = _feeds_for(prepared.model, question.feeds, feeds, label)
    except Cancelled:
        raise
    except WorkbenchError as error:
        return Ready(question.model, config, feeds, failure=Failure("prepare", error.problem, error.fix, ""))
    return Ready(prepared.model.path, prepared.config, feeds, prepared.record)


def _feeds_for(model: Model, given: Sequence[Feed], common: Path, label: str) -> Path:
    """The same feeds, or a copy in the types that the prepared model takes."""
    cast = cast_feeds(given, model)
    if cast is given:
        return common
    own = common.with_name(f"{common.name}-{label}")
    write_values(own, cast)
    return own
