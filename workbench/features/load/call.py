"""`wb.load_test`: configs under load, with several callers at once."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, TypeGuard

from workbench.core.bounds import check_number
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.core.measure.agreement import TOLERANCE
from workbench.core.measure.compare_request import check_seed
from workbench.core.measure.limits import Limits, ShowProgress
from workbench.core.models import Model
from workbench.core.prepare.real_data import inputs_from
from workbench.core.text import quoted
from workbench.features.base.result import Result, origin_of
from workbench.features.base.running import Feeds, finding_inputs, kept, opened_for, request_for
from workbench.features.load.load_test import LoadRounds
from workbench.features.load.record import ROUNDS, LoadPoint, LoadRequest, Sessions, check_load
from workbench.features.load.result import LoadTest

DURATION_S = 2.0
MOST_SETUPS = 26  # labels of one letter


@finding_inputs
def load_test(
    model: Model | Any,
    *configs: Config,
    callers: int | Sequence[int] = (1, 2, 4, 8),
    sessions: int | str | Sequence[int | str] = 1,
    rate_hz: float | Sequence[float] | None = None,
    duration_s: float = DURATION_S,
    max_p99_s: float | None = None,
    inputs: Feeds = None,
    seed: int = 0,
    allow_fallback: bool = False,
    calibration: Any = None,
    smallest_effect: float = 0.01,
    tolerance: float = TOLERANCE,
    least_sqnr_db: float | None = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    worker_limits: Limits | None = None,
    keep: bool = True,
) -> LoadTest | Any:
    """Measure throughput and tail latency while several callers run the model at once.

    Each number in `callers` is measured for `duration_s`, spread over five fresh processes of each config,
    the configs in turns. Without `rate_hz` a caller sends its next request when the last one is answered.
    With it requests arrive at random at that rate, and latency counts from the arrival, so that queues show;
    several rates give a curve. `sessions` is how many sessions the callers share: 1, or several; a text such
    as "4+threads+arena" lets the sessions share one thread pool and one memory arena. With "processes" each
    caller is a process with a session of its own, else a thread. A list tries each with every config.
    `max_p99_s` is a latency budget: the result says at which load p99 passes it. `least_sqnr_db` is what
    `wb.compare` takes for outputs of another arithmetic. The first config with the
    first `sessions` is the baseline of the verdicts. A deployment in place of the model is loaded through
    HTTP, beside its bare session, and returned with its check.
    """
    counts = tuple(_several(callers))
    if _is_deployment(model):  # its config, sessions and queue are as they were deployed
        check_load(counts, [], duration_s)
        if configs or sessions != 1 or rate_hz is not None or max_p99_s is not None:
            raise ConfigError(
                "a deployment is loaded as it is, by callers that wait for each answer",
                "leave out configs, sessions, rate_hz and max_p99_s; deploy another config to compare it",
            )
        return model.check(
            counts, rounds=ROUNDS, block_s=duration_s / ROUNDS, progress=progress,
            worker_limits=worker_limits, cancel=cancel, keep=keep,
        )  # fmt: skip
    check_seed(seed)
    if max_p99_s is not None:
        check_number("max_p99_s", max_p99_s, "give seconds above 0 and up to 3600, like 0.02", most=3600)
    if least_sqnr_db is not None:
        check_number("least_sqnr_db", least_sqnr_db, "give decibels from 0 up, like 20.0, or None", least=0)
    rates = tuple(_several(rate_hz))
    check_load(counts, [rate for rate in rates if rate is not None], duration_s)
    offered = [Sessions.read(value) for value in _several(sessions)]
    if rates != (None,) and any(wanted.processes for wanted in offered):
        raise ConfigError(
            'requests at a rate wait in one queue, and sessions="processes" has none',
            "leave rate_hz out, or let the callers be threads: sessions=1",
        )
    setups = [(config, wanted) for config in configs or (Config(),) for wanted in offered]
    if not counts or not rates or not 1 <= len(setups) <= MOST_SETUPS:
        raise ConfigError(
            f"callers={quoted(callers)}, rate_hz={quoted(rate_hz)} and {len(setups)} configs with their "
            "sessions make no test",
            f"give a number of callers, and 1 to {MOST_SETUPS} configs times sessions",
        )
    loaded = opened_for(model, [config for config, _ in setups], "wb.load_test(model, wb.Config(…))")
    fed = inputs_from(loaded, inputs, seed=seed)
    with request_for(
        loaded,
        [config for config, _ in setups],
        fed,
        smallest_effect=smallest_effect,
        tolerance=tolerance,
        least_sqnr_db=least_sqnr_db,
        calibration=calibration,
        seed=seed,
        allow_fallback=allow_fallback,
        progress=progress,
        cancel=cancel,
        limits=worker_limits,
    ) as (compared, on_progress):
        request = LoadRequest(
            compared=compared,
            sessions=tuple(wanted for _, wanted in setups),
            points=tuple(dict.fromkeys(LoadPoint(count, rate) for rate in rates for count in counts)),
            duration_s=float(duration_s),
            max_p99_s=max_p99_s,
        )
        record = LoadRounds(request, on_progress).measure(cancel)
    return kept(LoadTest(record, origin_of(loaded, setups[0][0], fed, cancel=cancel)), keep)


def _is_deployment(model: object) -> TypeGuard[Any]:
    return isinstance(model, Result) and model.feature.name == "deployment"


def _several(value: Any) -> Sequence[Any]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)
