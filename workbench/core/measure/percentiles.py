"""Percentiles, mean and throughput with intervals in which sessions, not samples, are independent.

A percentile's interval lies between two order statistics of all samples. Their ranks follow from the share of
each session's samples below the percentile: where sessions differ by no more than chance, this is the
binomial interval of the pooled samples; where they differ more, it is wider by that factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median, stdev
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.core.bundle.display import DataFrame, data_frame
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.run import Run
from workbench.core.measure.pairs import LEAST_S
from workbench.core.measure.regime import CONFIDENCE
from workbench.core.measure.sequential import student_t
from workbench.core.text import counted

if TYPE_CHECKING:
    import numpy as np

    Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

NEEDED: dict[float, int] = {50.0: 5, 90.0: 64, 95.0: 130, 99.0: 662, 99.9: 6_636}
"""The samples required per percentile: the chance that none lies beyond it stays under 0.13 %."""
MIN_PROCESSES = 3
MIN_FOR_MEDIAN = 6  # sessions of which the smallest and the largest value enclose the median: 96.9 %
NOTHING = "nothing was measured"
NO_TIME = "the runs took less than a tick of the clock"
TOO_DIFFERENT = "the sessions differ too much for an interval"
LEAST_SHARE = 1e-15  # beyond a percentile: that of one next to 0 requires more samples than a float counts
MOST_S = 1e12  # and none is longer than 30,000 years, so that squares add up to a finite number


@dataclass(frozen=True, slots=True)
class Figure(Estimate):
    """A figure with its 95 % interval; None if samples or processes are too few; `note` gives the reason."""

    name: str = ""
    note: str = ""


def _no_interval(processes: int) -> str:
    """Return the note on a figure of too few processes."""
    return f"no interval from {counted(processes, 'process', 'processes')}"


def percentiles(run: Run, wanted: Sequence[float] = tuple(NEEDED)) -> tuple[Figure, ...]:
    """Return latency percentiles in seconds."""
    groups = _samples(run)
    return tuple(percentile_of(groups, percent) for percent in wanted)


def percentiles_frame(runs: Sequence[Run]) -> DataFrame:
    """Return one row per percentile in milliseconds and per throughput of each run."""
    rows: list[tuple[object, ...]] = []
    for run in runs:
        for estimate in percentiles(run):
            rows.append((run.label, f"{estimate.name}_ms", *estimate.times(1e3).ends, estimate.note))
        rate = throughput(run)
        rows.append((run.label, "runs_per_s", *rate.ends, rate.note))
    return data_frame(rows, columns=["label", "figure", "value", "low", "high", "note"])


def mean(run: Run) -> Figure:
    """Return the mean latency in seconds, with Student's t interval over the sessions."""
    import numpy as np

    groups = _samples(run)
    if not groups:
        return Figure(name="mean", note=NOTHING)
    counts = np.array([len(group) for group in groups])
    means = np.array([group.mean() for group in groups])
    value = float(np.average(means, weights=counts))
    sessions = len(groups)
    if sessions < MIN_PROCESSES:
        return Figure(value, name="mean", note=_no_interval(sessions))
    variance = sessions / (sessions - 1) * float(((counts / counts.sum() * (means - value)) ** 2).sum())
    half = student_t((1 + CONFIDENCE) / 2, sessions - 1) * math.sqrt(variance)
    if value - half < LEAST_S:
        return Figure(value, high=value + half, name="mean", note=TOO_DIFFERENT)
    return Figure(value, value - half, value + half, "mean")


def throughput(run: Run) -> Figure:
    """Return the throughput of consecutive runs per second: the inverse of the mean latency."""
    latency = mean(run)
    if latency.value is not None and latency.value < LEAST_S:
        return Figure(name="throughput", note=NO_TIME)
    return replace(latency.falling(lambda seconds: 1 / seconds), name="throughput")


def mean_of(name: str, values: Sequence[float], least: float = 0.0) -> Figure:
    """Return the mean of one value per process, with Student's t interval; no value is below `least`."""
    if not values:
        return Figure(name=name, note=NOTHING)
    middle, count = fmean(values), len(values)
    if count < MIN_PROCESSES:
        return Figure(middle, name=name, note=_no_interval(count))
    half = student_t((1 + CONFIDENCE) / 2, count - 1) * stdev(values) / math.sqrt(count)
    return Figure(middle, max(middle - half, least), middle + half, name)


def over_processes(name: str, values: Sequence[float]) -> Figure:
    """Return the median of one value per process; from six on, the extremes are its interval."""
    if not values:
        return Figure(name=name, note=NOTHING)
    if len(values) < MIN_FOR_MEDIAN:
        return Figure(float(median(values)), name=name, note=_no_interval(len(values)))
    ordered = sorted(values)
    depth = _depth(len(ordered))
    return Figure(float(median(ordered)), ordered[depth], ordered[-1 - depth], name)


def _depth(count: int) -> int:
    """Return how many of the smallest and of the largest values an interval of the median leaves out."""
    total, tail, depth = 2.0**count, 1.0, 0
    while 2 * (tail + math.comb(count, depth + 1)) / total <= 1 - CONFIDENCE:
        depth += 1
        tail += math.comb(count, depth)
    return depth


def percentile_of(groups: list[Samples], percent: float) -> Figure:
    """Return a percentile of the samples of several processes, one array each."""
    import numpy as np

    name, needed = f"p{percent:g}", NEEDED.get(percent, samples_needed(percent))
    ordered = np.sort(np.concatenate(groups)) if groups else np.zeros(0)
    if len(ordered) < needed:
        return Figure(name=name, note=f"not enough samples: {len(ordered):,} of {needed:,}")
    value = float(np.percentile(ordered, percent))
    sessions = len(groups)
    if sessions < MIN_PROCESSES:
        return Figure(value, name=name, note=_no_interval(sessions))
    share = percent / 100
    half = student_t((1 + CONFIDENCE) / 2, sessions - 1) * _share_error(groups, value, share)
    first, last = math.floor((share - half) * len(ordered)), math.ceil((share + half) * len(ordered))
    low = min(float(ordered[first - 1]), value) if first >= 1 else None
    high = max(float(ordered[last - 1]), value) if last <= len(ordered) else None
    note = "" if None not in (low, high) else "not enough samples or processes for an interval"
    return Figure(value, low, high, name, note)


def _share_error(groups: list[Samples], value: float, share: float) -> float:
    """Return the standard error of the share of samples below a percentile.

    It is at least that of independent samples: sessions that agree better do so by chance.
    """
    import numpy as np

    counts = np.array([len(group) for group in groups], dtype=float)
    # Half of the ties count as below, so that a coarse clock makes no session differ.
    below = np.array([((group < value).sum() + (group <= value).sum()) / 2 for group in groups])
    independent = share * (1 - share) / counts.sum()
    apart = below - counts * below.sum() / counts.sum()
    sessions = len(groups)
    clustered = sessions / (sessions - 1) * float((apart**2).sum()) / counts.sum() ** 2
    return math.sqrt(max(independent, clustered))


def samples_needed(percent: float) -> int:
    """Return the samples of which none lies beyond the percentile with a chance under 0.13 %."""
    beyond = max(min(percent, 100 - percent) / 100, LEAST_SHARE)
    return math.ceil(math.log(0.0013) / math.log1p(-beyond))


def _samples(run: Run) -> list[Samples]:
    """Return one array per session: the samples of the blocks that count, or of all blocks if none counts."""
    import numpy as np

    def groups(everything: bool) -> list[Samples]:
        sessions = [
            [s for block in process.blocks if everything or run.counts(block) for s in block.samples_s]
            for process in run.processes
        ]
        return [np.minimum(session, MOST_S) for session in sessions if session]

    return groups(False) or groups(True)
