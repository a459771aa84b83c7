"""Two runs measured at different times: an interval of their ratio without interleaving, by Welch's t."""

from __future__ import annotations

import math
from statistics import fmean, variance

from workbench.core.bundle.run import Run
from workbench.core.measure.pairs import LEAST_S, typical_s
from workbench.core.measure.regime import CONFIDENCE
from workbench.core.measure.sequential import Interval, student_t

MIN_SESSIONS = 3  # of each run


def interval_apart(before: Run, after: Run) -> Interval | None:
    """Return the interval of log(time before / time after); None if either has too few sessions.

    Whatever changed between the two measurements counts as a difference of the runs.
    """
    first, second = _log_latencies(before), _log_latencies(after)
    if min(len(first), len(second)) < MIN_SESSIONS:
        return None
    parts = [variance(values) / len(values) for values in (first, second)]
    middle, spread = fmean(first) - fmean(second), math.sqrt(sum(parts))
    if spread == 0.0:
        return Interval(middle, middle, middle)
    shares = zip(parts, (first, second), strict=True)
    degrees = sum(parts) ** 2 / sum(part**2 / (len(values) - 1) for part, values in shares)
    half = student_t((1 + CONFIDENCE) / 2, max(1, math.floor(degrees + 1e-9))) * spread
    return Interval(middle, middle - half, middle + half)


def _log_latencies(run: Run) -> list[float]:
    """Return the log of the typical latency of each session, over the blocks that count."""
    sessions = (
        [sample for block in process.blocks if run.counts(block) for sample in block.samples_s]
        for process in run.processes
    )
    return [math.log(max(typical_s(session), LEAST_S)) for session in sessions if session]
