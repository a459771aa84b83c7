"""Latency and processor time against thread counts, with and without spinning, and the knee."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from workbench.config import Config
from workbench.records.comparison import ComparisonRecord
from workbench.records.run import Run
from workbench.text import in_ms

if TYPE_CHECKING:
    import pandas as pd

CLOSE = 0.05  # of the best: what more threads gain beyond the knee is no more than this


@dataclass(frozen=True, slots=True)
class ThreadPoint:
    """One thread count. None: nothing was measured, or the system does not tell."""

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
        """The fewest threads that come within 5 % of the best latency; None when nothing was measured."""
        known = [each for each in self.points if each.spinning is spinning and each.latency_s is not None]
        best = min((each.latency_s or 0.0 for each in known), default=0.0)
        near = [each for each in known if (each.latency_s or 0.0) <= best * (1 + CLOSE)]
        return min(near, key=lambda each: each.threads, default=None)

    def to_frame(self) -> pd.DataFrame:
        """A row a point: threads, spinning, latency_s, cpu_s, busy_threads, knee, failure."""
        import pandas as pd

        knees = (self.knee(spinning=True), self.knee(spinning=False))
        return pd.DataFrame(
            [
                {
                    "threads": each.threads,
                    "spinning": each.spinning,
                    "latency_s": each.latency_s,
                    "cpu_s": each.cpu_s,
                    "busy_threads": each.busy_threads,
                    "knee": each in knees,
                    "failure": each.failure,
                }
                for each in self.points
            ]
        )

    def __str__(self) -> str:
        return "; ".join(_sentence(self, spinning) for spinning in (True, False))


def thread_configs(config: Config, most_threads: int) -> tuple[Config, ...]:
    """1, 2, 4… and the most threads, each with and without spinning."""
    counts = sorted({most_threads, *(1 << power for power in range(most_threads.bit_length()))})
    return tuple(
        config.replace(intra_op_threads=count, spinning=spinning)
        for spinning in (True, False)
        for count in counts
        if count <= most_threads
    )


def scaling_of(record: ComparisonRecord) -> ThreadScalingRecord:
    """From a comparison of `thread_configs`."""
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
    blocks = [block for process in run.processes for block in process.blocks]
    clean = [block for block in blocks if run.counts(block)] or blocks
    each = [block.own_cpu_s / len(block.samples_s) for block in clean if block.own_cpu_s is not None]
    return median(each) if each else None


def _sentence(scaling: ThreadScalingRecord, spinning: bool) -> str:
    how = "spinning" if spinning else "not spinning"
    knee = scaling.knee(spinning=spinning)
    if knee is None or knee.latency_s is None:
        return f"{how}: nothing was measured"
    cpu = "" if knee.cpu_s is None else f" and {in_ms(knee.cpu_s, 3)} of processor time"
    count = "1 thread is" if knee.threads == 1 else f"{knee.threads} threads are"
    return f"{how}: {count} enough, {in_ms(knee.latency_s, 3)} a run{cpu}"
