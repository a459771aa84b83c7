"""What a study improves: one gain a round, the verdict on fresh rounds, and the limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import quantiles
from typing import TypeVar

from workbench.judge.pairs import Pair, pairs_of
from workbench.judge.verdict import Criteria, judge
from workbench.records.comparison import ComparisonRecord, Kind, Verdict
from workbench.records.goal import OF_OUTPUTS, Goal, Objective
from workbench.records.load_test import LoadTestRecord
from workbench.records.run import ProcessRecord, Run
from workbench.text import in_mib, in_ms

MOST_LOSS = 20.0  # an error without end, as a number that a record can hold
LEAST_SAMPLES = 100  # fewer have no 99th percentile
Number = TypeVar("Number", int, float)
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
    processes = tuple(process for process in candidate.processes if process.round not in known)
    latest = replace(candidate, processes=processes)
    if objective in OF_OUTPUTS:
        change = sides.accuracy_change if objective == "accuracy" else -(sides.error or 0.0)
        bounded = max(change or 0.0, -MOST_LOSS)
        return dict.fromkeys([*known, *(pair.round for pair in pairs_of(default, latest))], bounded)
    is_latency = objective == "latency"
    pairs = pairs_of(default, latest) if is_latency else _pairs(objective, default, latest, sides.sizes)
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
    pairs = _pairs(objective, default, candidate, sizes)
    if objective == "file size":  # known exactly
        gain = math.log(sizes[0] / sizes[1])
        kind: Kind = "faster" if gain > 0 else "slower" if gain < 0 else "tie"
        ratio = math.exp(gain)
        reason = "the sizes of both files are known"
        return replace(verdict, kind=kind, ratio=ratio, low=ratio, high=ratio, reason=reason)
    return judge(candidate.label, pairs, record.agreement, Criteria(smallest_effect), final=True)


def broken_limit(goal: Goal, run: Run, file_bytes: int | None) -> str | None:
    """Return which limit a measured run breaks, in words."""
    p99_s = (
        None if goal.max_p99_s is None else _p99(run.latency.samples_s, LEAST_SAMPLES)
    )  # of all samples, after each round
    return (
        beyond("its file has {}", file_bytes, goal.max_file_bytes, in_mib)
        or beyond("it takes {} of memory", run.peak_rss_bytes, goal.max_memory_bytes, in_mib)
        or beyond("it loads in {}", run.load_s, goal.max_load_s, in_ms)
        or beyond("its p99 is {}", p99_s, goal.max_p99_s, in_ms)
    )


def beyond(
    text: str, value: Number | None, most: Number | None, in_unit: Callable[[Number], str | None]
) -> str | None:
    """Return in words that a value is beyond its limit; None if it is not, or not known."""
    if value is None or most is None or value <= most:
        return None
    return f"{text.format(in_unit(value))}, at most {in_unit(most)} are allowed"


def _p99(samples_s: Sequence[float], least: int) -> float | None:
    """Return the 99th percentile of the latency; None of fewer samples than `least`."""
    return None if len(samples_s) < least else quantiles(samples_s, n=100)[98]


def _p99_of_process(process: ProcessRecord) -> float | None:
    return _p99([sample for block in process.blocks for sample in block.samples_s], 2)


_VALUES: dict[Objective, Callable[[ProcessRecord], float | None]] = {
    "p99": _p99_of_process,
    "memory": lambda process: process.peak_rss_bytes,
    "load": lambda process: process.load_s,
}


def _pairs(objective: Objective, default: Run, candidate: Run, sizes: tuple[int, int]) -> tuple[Pair, ...]:
    """Return one pair for every round in which both have a value."""
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
