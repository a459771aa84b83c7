"""`wb.compare`, `wb.open` and `wb.history`."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from workbench.core.bundle.bundle import read_bundle
from workbench.core.bundle.trust import untrusted_note
from workbench.core.config import Config, PreparedModel
from workbench.core.errors import ConfigError, WorkbenchError, warn_user
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.measure.pairs import Clock
from workbench.core.measure.processor_time import at_one_thread
from workbench.core.models import Model
from workbench.core.models.fit import check_fit
from workbench.core.text import quoted
from workbench.features.base.history import FolderHistory, History
from workbench.features.base.registry import KINDS
from workbench.features.base.running import Feeds, finding_inputs, inputs_of, measure_runs
from workbench.features.base.subjects import Outputs, subjects_of
from workbench.features.compare.result import Comparison


@finding_inputs
def compare(
    model: Model | tuple[Model | Any, Config] | Any,
    *subjects: Config | tuple[Model | Any, Config] | Any,
    outputs: Outputs = None,
    inputs: Feeds = None,
    budget_s: float | None = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    progress: ShowProgress = True,
    tolerance: float = TOLERANCE,
    least_sqnr_db: float | None = None,
    calibration: Any = None,
    clock: Clock = "wall",
    seed: int = 0,
    allow_fallback: bool = False,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> Comparison:
    """Measure configs side by side, each in fresh processes of its own, and judge which is faster.

    `wb.compare(model, a, b, …)` compares configs of one model, `wb.compare(first, second, …)` model files,
    each with a config where it is a pair: `wb.compare((first, a), (second, b))`. The first one is the
    baseline. `outputs={"339": "logits"}` names outputs that have another name in the further files, and
    `outputs="ignore"` compares the time alone of different nets. `budget_s` bounds the time (by default
    about 10 s, more for slow models, and up to a minute in all while the answer is open, or a minute more
    for runs of over 10 ms); measuring ends sooner when the answer is known. `pacing_s` leaves that pause
    before each run, as requests that arrive now and then would. `calibration` is what static int8
    measures its ranges on (see `wb.prepare`). Outputs of configs with other arithmetic must reach
    `least_sqnr_db` of signal over noise (by default what suits their precision), all others agree within
    `tolerance`. `clock="cpu"` compares the processor time of each config at one thread in place of its
    latency, which a busy machine hardly disturbs. A config none of whose nodes would run on a provider
    that it asks for is not measured, unless `allow_fallback=True`. `keep` adds the result to the history.
    Ctrl-C or `cancel` stop it and leave no process behind; `cancel` keeps what is known once there is an
    interval, and a doubt says so.
    """
    began = time.perf_counter()
    check_seed(seed)
    if clock not in ("wall", "cpu"):
        raise ConfigError(f"clock={quoted(clock)} is no clock", 'give "wall" or "cpu"')
    loaded, configs = subjects_of(model, subjects, outputs)
    if clock == "cpu":
        configs = tuple(at_one_thread(config) for config in configs)
    for config in configs:
        check_fit(loaded, config)
    fed = inputs_of(loaded, inputs, seed, configs, calibration)
    record = measure_runs(
        loaded,
        configs,
        fed,
        progress=progress,
        cancel=cancel,
        limits=worker_limits,
        budget_s=budget_s,
        until_decided=True,
        smallest_effect=smallest_effect,
        pacing_s=pacing_s,
        tolerance=tolerance,
        least_sqnr_db=least_sqnr_db,
        calibration=calibration,
        clock=clock,
        seed=seed,
        allow_fallback=allow_fallback,
        began=began,
    )
    result = Comparison(record, structure=loaded.structure.SerializeToString())
    result.with_model(loaded, fed, calibration, progress is True)
    for run in record.runs:
        if isinstance(run.config.precision, PreparedModel) and run.failure is None:
            try:
                result.files(run.label)
            except WorkbenchError as error:  # a file may be gone meanwhile; what was measured stays
                warn_user(f"what differs between the files is not kept: {error}")
    if keep:
        result.keep()
    return result


def open(path: str | os.PathLike[str]) -> Any:
    """Open a bundle that `save` wrote, here or on another machine, and return its result.

    >>> import sample_models, workbench as wb
    >>> recorded = wb.open(sample_models.FOLDER / "recorded" / "lessons" / "noise.ortbench")
    >>> [run.label for run in recorded.runs]
    ['A', 'B']
    """
    result = KINDS.result(read_bundle(path, KINDS))
    if result.foreign_paths:
        warn_user(untrusted_note(result.foreign_paths).strip())
    return result


def history(folder: str | os.PathLike[str] | None = None) -> History:
    """Return the history: every result made on this machine, newest first.

    With a `folder`, the history of a team: the bundles that lie in it, which are only read.

    >>> import workbench as wb
    >>> wb.history().to_frame().columns[0]
    'id'
    """
    return History() if folder is None else FolderHistory(folder)
