"""`wb.compare`, `wb.open` and `wb.history`."""

from __future__ import annotations

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.background import in_background
from workbench.config import Config
from workbench.errors import ConfigError
from workbench.judge.agreement import TOLERANCE
from workbench.judge.compare import compare as measure_and_judge
from workbench.judge.compare_request import CompareRequest, check_seed
from workbench.judge.pairs import Clock
from workbench.judge.processor_time import at_one_thread
from workbench.measurement.bar import bar
from workbench.measurement.limits import Limits, Progress
from workbench.models.fit import check_fit
from workbench.preparation.inputs import real_inputs
from workbench.preparation.replayed import replayed
from workbench.records.bundle import read_bundle
from workbench.records.trust import untrusted_note
from workbench.results.comparison import Comparison
from workbench.results.history import History
from workbench.results.registry import KINDS
from workbench.text import quoted

if TYPE_CHECKING:
    from workbench.models import Inputs, Model

__all__ = ["Comparison", "History", "compare", "history", "open"]


def compare(
    model: Model | Any,
    a: Config,
    b: Config,
    *more: Config,
    inputs: Inputs | str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
    budget_s: float | None = None,
    smallest_effect: float = 0.01,
    pacing_s: float | None = None,
    progress: bool | Callable[[Progress], None] = True,
    tolerance: float = TOLERANCE,
    least_sqnr_db: float | None = None,
    calibration: Any = None,
    clock: Clock = "wall",
    race: bool = False,
    seed: int = 0,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
    keep: bool = True,
) -> Comparison:
    """Measure configs side by side, each in fresh processes of its own, and judge which is faster.

    `a` is the baseline. `budget_s` bounds the time (by default about 10 s, more for slow models); measuring
    ends sooner when the answer is known. `pacing_s` leaves that pause before each run, as requests that
    arrive now and then would. `calibration` is what static int8 measures its ranges on (see `wb.prepare`).
    Outputs of configs with other arithmetic must reach `least_sqnr_db` of signal over noise (by default what
    suits their precision), all others agree within `tolerance`. `clock="cpu"` compares the processor time of
    each config at one thread in place of its latency, which a busy machine hardly disturbs. `race=True`
    drops configs that are beaten and confirms the winner on fresh rounds. `keep` adds the result to the
    history.
    Ctrl-C or `cancel` stop it and leave no process behind.

    >>> import workbench as wb
    >>> wb.compare.__name__
    'compare'
    """
    from workbench.models import Model, load

    began = time.perf_counter()
    check_seed(seed)
    for config in (a, b, *more):
        if not isinstance(config, Config):
            raise ConfigError(
                f"{config!r} is no config",
                "give wb.Config(…) values: wb.compare(model, wb.Config(), wb.Config(…))",
            )
    configs = (a, b, *more)
    if clock not in ("wall", "cpu"):
        raise ConfigError(f"clock={quoted(clock)} is no clock", 'give "wall" or "cpu"')
    if clock == "cpu":
        configs = tuple(at_one_thread(config) for config in configs)
    loaded = model if isinstance(model, Model) else load(model)
    for config in configs:
        check_fit(loaded, config)
    calibration = replayed(calibration)
    fed = _inputs(loaded, inputs, seed, configs, calibration)
    with (
        bar(progress) as on_progress,
        # A large file is hashed while the first worker starts and loads.
        in_background(loaded.record, "hash of the model", cancel) as hashing,
    ):
        request = CompareRequest(
            model=loaded.path,
            source=loaded,
            model_name=loaded.name,
            model_bytes=loaded.graph_bytes + sum(file.size_bytes for file in loaded.external),
            model_record=hashing.result,
            configs=configs,
            feeds=fed.feeds,
            inputs=fed.record(),
            budget_s=budget_s,
            smallest_effect=smallest_effect,
            pacing_s=pacing_s,
            tolerance=tolerance,
            least_sqnr_db=least_sqnr_db,
            calibration=calibration,
            clock=clock,
            race=race,
            seed=seed,
            limits=limits or Limits(),
            began=began,
        )
        record = measure_and_judge(request, on_progress=on_progress, cancel=cancel)
    structure = loaded.structure.SerializeToString()
    result = Comparison(
        record, structure, model=loaded, inputs=fed, calibration=calibration, progress=progress is True
    )
    if keep:
        result.keep()
    return result


def open(path: str | os.PathLike[str]) -> Any:
    """Open a bundle that `save` wrote, here or on another machine, and return its result.

    >>> import workbench as wb
    >>> wb.open.__name__
    'open'
    """
    result = KINDS.result(read_bundle(path, KINDS))
    if result.foreign_paths:
        warnings.warn(untrusted_note(result.foreign_paths).strip(), stacklevel=2)
    return result


def history() -> History:
    """Return the history: every result made on this machine, newest first.

    >>> import workbench as wb
    >>> wb.history().to_frame().columns[0]
    'id'
    """
    return History()


def _inputs(
    model: Model, inputs: Any, seed: int, configs: Sequence[Config] = (), calibration: Any = None
) -> Inputs:
    from workbench.models import Inputs

    if isinstance(inputs, Inputs):
        return inputs
    if inputs is None and (real := real_inputs(model, configs, calibration)) is not None:
        return real
    return model.inputs(inputs, seed=seed) if inputs is not None else model.inputs(seed=seed)
