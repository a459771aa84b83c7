"""Percentiles and throughput with intervals that resample whole processes, the independent units."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.records.run import Run

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Samples: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

NEEDED: dict[float, int] = {50.0: 5, 90.0: 64, 95.0: 130, 99.0: 662, 99.9: 6_636}
"""The samples required per percentile: the chance that none lies beyond it stays under 0.13 %."""
RESAMPLES = 300
MIN_PROCESSES = 3
LEAST_S = 1e-9  # no run is shorter than a clock tick, whatever an untrusted record claims
MOST_A_PROCESS = 4_000  # samples per process used to resample an interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure with its 95 % interval; None if samples or processes are too few; `note` gives the reason."""

    name: str
    value: float | None
    low: float | None
    high: float | None
    note: str = ""


def percentiles(run: Run, wanted: Sequence[float] = tuple(NEEDED)) -> tuple[Estimate, ...]:
    """Return latency percentiles in seconds."""
    groups = _samples(run)
    return tuple(_percentile(groups, percent) for percent in wanted)


def percentiles_frame(runs: Sequence[Run]) -> pd.DataFrame:
    """Return one row per percentile in milliseconds and per throughput of each run."""
    import pandas as pd

    rows: list[tuple[object, ...]] = []
    for run in runs:
        for estimate in percentiles(run):
            values = (estimate.value, estimate.low, estimate.high)
            ms = (None if value is None else value * 1e3 for value in values)
            rows.append((run.label, f"{estimate.name}_ms", *ms, estimate.note))
        rate = throughput(run)
        rows.append((run.label, "runs_per_s", rate.value, rate.low, rate.high, rate.note))
    return pd.DataFrame(rows, columns=["label", "figure", "value", "low", "high", "note"])


def throughput(run: Run) -> Estimate:
    """Return the throughput of consecutive runs per second: the inverse of the mean latency."""
    return _estimate("throughput", _samples(run), lambda samples: 1 / max(float(samples.mean()), LEAST_S))


def _percentile(groups: list[Samples], percent: float) -> Estimate:
    import numpy as np

    name, needed = f"p{percent:g}", NEEDED.get(percent, max(NEEDED.values()))
    count = sum(len(group) for group in groups)
    if count < needed:
        return Estimate(name, None, None, None, f"not enough samples: {count:,} of {needed:,}")
    return _estimate(name, groups, lambda samples: float(np.percentile(samples, percent)))


def _estimate(name: str, groups: list[Samples], figure: Callable[[Samples], float]) -> Estimate:
    import numpy as np

    if not groups:
        return Estimate(name, None, None, None, "nothing was measured")
    value = figure(np.concatenate(groups))
    if len(groups) < MIN_PROCESSES:
        return Estimate(name, value, None, None, f"no interval from {len(groups)} processes")
    rng = np.random.default_rng(0)
    draws = rng.integers(len(groups), size=(RESAMPLES, len(groups)))
    thinned = [_thinned(group) for group in groups]
    resampled = [figure(np.concatenate([thinned[index] for index in draw])) for draw in draws]
    low, high = np.percentile(resampled, [2.5, 97.5])
    return Estimate(name, value, float(low), float(high))


def _thinned(group: Samples) -> Samples:
    """Return evenly spaced quantiles of very many samples, both ends included: enough for an interval."""
    import numpy as np

    if len(group) <= MOST_A_PROCESS:
        return group
    thinned: Samples = np.sort(group)[np.linspace(0, len(group) - 1, MOST_A_PROCESS).round().astype(int)]
    return thinned


def _samples(run: Run) -> list[Samples]:
    """Return one array per session: the samples of the blocks that count, or of all blocks if none counts."""
    import numpy as np

    def groups(everything: bool) -> list[Samples]:
        sessions = [
            [s for block in process.blocks if everything or run.counts(block) for s in block.samples_s]
            for process in run.processes
        ]
        return [np.array(session) for session in sessions if session]

    return groups(False) or groups(True)
