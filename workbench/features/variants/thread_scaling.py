"""Latency and processor time against thread counts, with and without spinning, and the knee."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import frame_of
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.text import in_ms

if TYPE_CHECKING:
    import pandas as pd

CLOSE = 0.05  # of the best latency: more threads than at the knee gain less than this


@dataclass(frozen=True, slots=True)
class ThreadPoint:
    """One thread count. None: nothing was measured, or the system does not report it."""

    threads: int
    spinning: bool
    latency_s: float | None
    cpu_s: float | None  # of all threads, a run
    failure: str | None

    @property
    def busy_threads(self) -> float | None:
        """Processor time over latency: how many threads were running on average, working or spinning."""
        if self.cpu_s is None or not self.latency_s:
            return None
        return self.cpu_s / self.latency_s


@dataclass(frozen=True, slots=True)
class ThreadScalingRecord:
    """All points of one comparison."""

    points: tuple[ThreadPoint, ...]

    def knee(self, *, spinning: bool = True) -> ThreadPoint | None:
        """Return the fewest threads within 5 % of the best latency; None when nothing was measured."""
        known = [point for point in self.points if point.spinning is spinning and point.latency_s is not None]
        best = min((point.latency_s or 0.0 for point in known), default=0.0)
        near = [point for point in known if (point.latency_s or 0.0) <= best * (1 + CLOSE)]
        return min(near, key=lambda point: point.threads, default=None)

    def to_frame(self) -> pd.DataFrame:
        """One row per point: threads, spinning, latency_s, cpu_s, busy_threads, knee, failure."""
        knees = (self.knee(spinning=True), self.knee(spinning=False))
        names = ("threads", "spinning", "latency_s", "cpu_s", "busy_threads", "failure")
        frame = frame_of(self.points, names)
        frame.insert(5, "knee", [point in knees for point in self.points])
        return frame

    def __str__(self) -> str:
        return "; ".join(_sentence(self, spinning) for spinning in (True, False))


def thread_configs(config: Config, most_threads: int) -> tuple[Config, ...]:
    """1, 2, 4… and the most threads, point with and without spinning."""
    counts = sorted({most_threads, *(1 << power for power in range(most_threads.bit_length()))})
    return tuple(
        config.replace(intra_op_threads=count, spinning=spinning)
        for spinning in (True, False)
        for count in counts
        if count <= most_threads
    )


def scaling_of(record: ComparisonRecord) -> ThreadScalingRecord:
    """Read the points from a comparison of `thread_configs`."""
    return ThreadScalingRecord(
        tuple(
            ThreadPoint(
                threads=run.config.intra_op_threads or 0,
                spinning=run.config.spinning is not False,
                latency_s=run.latency.median_s,
                cpu_s=_cpu_s(run),
                failure=None if run.failure is None else run.failure.problem,
            )
            for run in record.runs
        )
    )


def _cpu_s(run: Run) -> float | None:
    blocks = run.blocks
    clean = [block for block in blocks if run.counts(block)] or blocks
    per_run_s = [block.own_cpu_s / len(block.samples_s) for block in clean if block.own_cpu_s is not None]
    return median(per_run_s) if per_run_s else None


def _sentence(scaling: ThreadScalingRecord, spinning: bool) -> str:
    how = "spinning" if spinning else "not spinning"
    knee = scaling.knee(spinning=spinning)
    if knee is None or knee.latency_s is None:
        return f"{how}: nothing was measured"
    cpu = "" if knee.cpu_s is None else f" and {in_ms(knee.cpu_s, 3)} of processor time"
    count = "1 thread is" if knee.threads == 1 else f"{knee.threads} threads are"
    return f"{how}: {count} enough, {in_ms(knee.latency_s, 3)} a run{cpu}"
