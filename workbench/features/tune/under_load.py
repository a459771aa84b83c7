"""The throughput of candidates with several callers at once: rounds of a load test."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from workbench.core.config import Config
from workbench.core.measure.surroundings import StartWorker
from workbench.features.load.load_test import LoadRounds
from workbench.features.load.record import LoadPoint, LoadTestRecord
from workbench.features.load.request import LoadRequest, Sessions
from workbench.features.tune.request import StudyRequest

SLICE_S = 0.4  # of each config in each round


def load_of(
    request: StudyRequest,
    configs: Sequence[Config],
    *,
    rounds: int,
    seed: int,
    cancel: threading.Event | None = None,
    start_worker: StartWorker,
) -> LoadTestRecord:
    """Measure the configs with the callers of the study; the first one is the baseline."""
    point = LoadPoint(request.callers)
    asked = LoadRequest(
        compared=replace(request.comparison(*configs), seed=seed),
        sessions=(Sessions(),) * len(configs),
        points=(point,),
        duration_s=SLICE_S * rounds,
        rounds=rounds,
    )
    return LoadRounds(asked).measure(cancel, start_worker)


def round_of(
    request: StudyRequest,
    configs: Mapping[str, Config],
    *,
    seed: int,
    cancel: threading.Event | None,
    start_worker: StartWorker,
) -> dict[str, float]:
    """Return the answers a second of each config in one round, by label; a config that failed has none."""
    record = load_of(
        request, [*configs.values()], rounds=1, seed=seed, cancel=cancel, start_worker=start_worker
    )
    return {
        label: fmean(rates)
        for label, run in zip(configs, record.runs, strict=True)
        if (rates := [part.throughput_hz for part in run.slices if part.throughput_hz > 0])
    }
