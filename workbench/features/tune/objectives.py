"""What a study improves: one gain a round, the verdict on fresh rounds, and the limits."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from workbench.core.bundle.comparison import ComparisonRecord, Kind, Verdict
from workbench.core.bundle.goal import OF_OUTPUTS, Goal, Objective
from workbench.core.bundle.run import ProcessRecord, Run
from workbench.core.config import Config
from workbench.core.measure.pairs import Pair, pairs_of
from workbench.core.measure.percentiles import NEEDED, over_processes, percentile_of, percentiles, throughput
from workbench.core.measure.regime import MIN_ROUNDS
from workbench.core.measure.surroundings import StartWorker
from workbench.core.measure.verdict import Criteria, judge
from workbench.features.accuracy.acceptance import Check
from workbench.features.compare.best import file_check, memory_check, rate_check, time_check
from workbench.features.load.load_test import LoadRounds
from workbench.features.load.record import LoadPoint, LoadRequest, LoadTestRecord, Sessions
from workbench.features.tune.request import StudyRequest

MOST_LOSS = 20.0  # an error without end, as a number that a record can hold
TOO_FEW = "a gain in the 99th percentile needs {:,} samples of either config: give a longer budget_s"
Rates = Mapping[int, float]  # round → answers a second


@dataclass(frozen=True, slots=True)
class Sides:
    """What a comparison of the default with a candidate needs besides their runs."""

    sizes: tuple[int, int]  # of both files
    rates: tuple[Rates, Rates] = ({}, {})
    accuracy_change: float | None = None
    error: float | None = None


def gains_of(
    objective: Objective, default: Run, candidate: Run, sides: Sides, known: Mapping[int, float]
) -> dict[int, float]:
    """Return log(the default's value / the candidate's) by round; of the outputs, the change itself.

    `known` are the gains of earlier rounds: what a round showed stays.
    """
    if objective == "throughput":
        before, after = sides.rates
        return {round: math.log(rate / before[round]) for round, rate in after.items() if round in before}
    if objective == "p99":  # several rounds may make one gain
        return {pair.round: pair.log_ratio_all for pair in _p99_pairs(default, candidate)}
    processes = tuple(process for process in candidate.processes if process.round not in known)
    latest = replace(candidate, processes=processes)
    if objective in OF_OUTPUTS:
        change = sides.accuracy_change if objective == "accuracy" else -(sides.error or 0.0)
        bounded = max(change or 0.0, -MOST_LOSS)
        return dict.fromkeys([*known, *(pair.round for pair in pairs_of(default, latest))], bounded)
    is_latency = objective == "latency"
    pairs = (
        pairs_of(default, latest) if is_latency else objective_pairs(objective, default, latest, sides.sizes)
    )
    gains = {
        pair.round: pair.log_ratio if is_latency and pair.log_ratio is not None else pair.log_ratio_all
        for pair in pairs
    }
    return {**known, **gains}


def verdict_on(
    objective: Objective,
    record: ComparisonRecord,
    under_load: LoadTestRecord | None,
    sizes: tuple[int, int],
    smallest_effect: float,
) -> Verdict:
    """Return the verdict of fresh measurements of two configs on the objective."""
    verdict = record.verdict
    if objective == "latency" or verdict.kind == "outputs differ":
        return verdict
    if under_load is not None:
        return under_load.verdicts[0].verdict
    default, candidate = record.runs[0], record.runs[1]
    pairs = objective_pairs(objective, default, candidate, sizes)
    if objective == "file size":  # known exactly
        gain = math.log(sizes[0] / sizes[1])
        kind: Kind = "faster" if gain > 0 else "slower" if gain < 0 else "tie"
        ratio = math.exp(gain)
        reason = "the sizes of both files are known"
        return replace(verdict, kind=kind, ratio=ratio, low=ratio, high=ratio, reason=reason)
    verdict = judge(candidate.label, pairs, record.agreement, Criteria(smallest_effect), final=True)
    if objective == "p99" and len(pairs) < MIN_ROUNDS:
        return replace(verdict, reason=TOO_FEW.format(MIN_ROUNDS * NEEDED[99.0]))
    return verdict


@dataclass(frozen=True, slots=True)
class LimitCheck:
    """A limit of a measured run: kept, broken, or not settled by the interval of its figure."""

    check: Check
    is_beyond: bool  # whether the figure itself, without its interval, is beyond the limit


def limit_checks(goal: Goal, run: Run, file_bytes: int | None, by_round: Rates) -> Iterator[LimitCheck]:
    """Check each limit that a study has, as `result.best` does."""
    rates = [*by_round.values()]
    if file_bytes is not None and goal.max_file_bytes is not None:
        check = file_check(file_bytes, goal.max_file_bytes)
        yield LimitCheck(check, check.passed is False)
    if goal.max_memory_bytes is not None:
        check = memory_check(run, goal.max_memory_bytes)
        yield LimitCheck(check, (run.peak_rss_bytes or 0) > goal.max_memory_bytes)
    load = over_processes("load time", [process.load_s for process in run.processes])
    p50, p99 = percentiles(run, (50.0, 99.0))
    limits = ((load, goal.max_load_s), (p50, goal.max_p50_s), (p99, goal.max_p99_s))
    for estimate, most_s in limits:
        if most_s is not None:
            yield LimitCheck(time_check(estimate, most_s), (estimate.value or 0.0) > most_s)
    if (least := goal.min_throughput) is not None:
        rate = over_processes("throughput", rates) if rates else throughput(run)
        yield LimitCheck(rate_check(rate, least), (least if rate.value is None else rate.value) < least)


_VALUES: dict[Objective, Callable[[ProcessRecord], float | None]] = {
    "memory": lambda process: process.peak_rss_bytes,
    "load": lambda process: process.load_s,
}


def objective_pairs(
    objective: Objective, default: Run, candidate: Run, sizes: tuple[int, int]
) -> tuple[Pair, ...]:
    """Return one pair for every round in which both have a value; a p99 may take several rounds."""
    if objective == "p99":
        return _p99_pairs(default, candidate)
    partners = {process.round: process for process in candidate.processes}
    pairs = []
    for process in default.processes:
        partner = partners.get(process.round)
        if partner is None:
            continue
        if objective == "file size":
            first, second = map(float, sizes)
        else:
            value = _VALUES[objective]
            first, second = value(process) or 0.0, value(partner) or 0.0
        if first > 0 and second > 0:
            gain = math.log(first / second)
            pairs.append(Pair(process.round, gain, gain, len(process.blocks) // 2, len(process.blocks) // 2))
    return tuple(pairs)


def _p99_pairs(default: Run, candidate: Run) -> tuple[Pair, ...]:
    """Return one pair for as many successive rounds as together hold enough samples of both."""
    partners = {process.round: process for process in candidate.processes}
    pairs: list[Pair] = []
    together: list[tuple[ProcessRecord, ProcessRecord]] = []
    for process in default.processes:
        if (partner := partners.get(process.round)) is None:
            continue
        together.append((process, partner))
        first, second = (_p99(processes) for processes in zip(*together, strict=True))
        if first and second:
            gain, count = math.log(first / second), sum(len(before.blocks) // 2 for before, _ in together)
            pairs.append(Pair(process.round, gain, gain, count, count))
            together = []
    return tuple(pairs)


def _p99(processes: Iterable[ProcessRecord]) -> float | None:
    """Return the 99th percentile of all samples of these processes; None of too few."""
    import numpy as np

    times_s = ([time_s for block in process.blocks for time_s in block.samples_s] for process in processes)
    return percentile_of([np.array(group) for group in times_s if group], 99.0).value


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
