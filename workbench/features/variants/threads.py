"""Latency and processor time against thread counts, with and without spinning, and the knee."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from statistics import median
from typing import Any

from workbench.core.bounds import check_number
from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame
from workbench.core.bundle.run import Run
from workbench.core.command import Command
from workbench.core.config import Config
from workbench.core.cpu import usable_cores
from workbench.core.feature import Feature
from workbench.core.measure.limits import ShowProgress
from workbench.core.models import Model
from workbench.core.text import counted, in_ms
from workbench.drawing.card import ConfigUse
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, milliseconds, series_look, time_value
from workbench.features.base.measured import Stoppable
from workbench.features.base.running import Feeds, kept
from workbench.features.compare.call import compare
from workbench.features.variants.variant import Variant, VariantsRecord, gates_of_variants

THREADS_BUDGET_S = 30.0
_MOST_THREADS = 4096  # 13 counts, each with and without spinning
_CLOSE = 0.05  # of the best latency: more threads than at the knee gain less than this
_LOOKS = {True: series_look(0, "spinning"), False: series_look(1, "not spinning")}


@dataclass(frozen=True, slots=True)
class ThreadPoint(Variant):
    """One thread count. None: nothing was measured, or the system does not report it."""

    threads: int
    spinning: bool
    cpu_s: float | None  # of all threads, a run

    @property
    def busy_threads(self) -> float | None:
        """Processor time over latency: how many threads were running on average, working or spinning."""
        if self.cpu_s is None or not self.latency_s:
            return None
        return self.cpu_s / self.latency_s


@dataclass(frozen=True, slots=True)
class ThreadScalingRecord(VariantsRecord):
    """All points of one comparison."""

    columns = "threads spinning latency_s cpu_s busy_threads failure"

    rows: tuple[ThreadPoint, ...]
    stopped: str = ""  # that a person stopped it and what is kept, in words

    def knee(self, *, spinning: bool = True) -> ThreadPoint | None:
        """Return the fewest threads within 5 % of the best latency; None when nothing was measured."""
        known = [row for row in self.rows if row.spinning is spinning and row.latency_s is not None]
        best = min((row.latency_s or 0.0 for row in known), default=0.0)
        near = [row for row in known if (row.latency_s or 0.0) <= best * (1 + _CLOSE)]
        return min(near, key=lambda row: row.threads, default=None)

    def latency_by_threads(self) -> dict[int, float]:
        """Return the seconds of a run by the number of threads that spin, where one was measured."""
        return {row.threads: row.latency_s for row in self.rows if row.spinning and row.latency_s}

    def to_frame(self) -> DataFrame:
        """Return one row per point: threads, spinning, latency_s, cpu_s, busy_threads, knee, failure."""
        knees = (self.knee(spinning=True), self.knee(spinning=False))
        frame = VariantsRecord.to_frame(self)
        frame.insert(5, "knee", [row in knees for row in self.rows])
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
    rows = []
    for run in record.runs:
        threads, spinning = run.config.intra_op_threads or 0, run.config.spinning is not False
        name = f"{counted(threads, 'thread')}, {_how(spinning)}"
        row = ThreadPoint.of(name, run, record, threads=threads, spinning=spinning, cpu_s=_cpu_s(run))
        rows.append(row)
    return ThreadScalingRecord(record.model.name, tuple(rows), record.stopped)


def _cpu_s(run: Run) -> float | None:
    blocks = run.blocks
    clean = [block for block in blocks if run.counts(block)] or blocks
    per_run_s = [block.own_cpu_s / len(block.samples_s) for block in clean if block.own_cpu_s is not None]
    return median(per_run_s) if per_run_s else None


def _how(spinning: bool) -> str:
    return "spinning" if spinning else "not spinning"


def _sentence(scaling: ThreadScalingRecord, spinning: bool) -> str:
    knee = scaling.knee(spinning=spinning)
    if knee is None or knee.latency_s is None:
        return f"{_how(spinning)}: nothing was measured"
    cpu = "" if knee.cpu_s is None else f" and {in_ms(knee.cpu_s, 3)} of processor time"
    count = "1 thread is" if knee.threads == 1 else f"{knee.threads} threads are"
    return f"{_how(spinning)}: {count} enough, {in_ms(knee.latency_s, 3)} a run{cpu}"


def threads_chart(scaling: ThreadScalingRecord) -> Chart:
    """Return a row for each thread count: latency at the left, processor time at the right."""
    knees = [scaling.knee(spinning=spinning) for spinning in _LOOKS]
    rows = []
    for count in sorted({row.threads for row in scaling.rows}):
        points = sorted(
            (row for row in scaling.rows if row.threads == count), key=lambda row: not row.spinning
        )
        latency = (_latency(point, is_enough=point in knees) for point in points)
        busy = (time_value(point.cpu_s, _LOOKS[point.spinning]) for point in points)
        rows.append(ChartRow(counted(count, "thread"), (tuple(latency), tuple(busy))))
    axes = (Axis("latency (ms)"), Axis("processor time a run (ms)"))
    note = "enough: the fewest threads within 5 % of the best latency"
    sentences = tuple(f"{part[:1].upper()}{part[1:]}" for part in str(scaling).split("; "))
    return Chart(sentences, axes, tuple(rows), note, columns=2)


def _latency(point: ThreadPoint, *, is_enough: bool) -> Value:
    text = in_ms(point.latency_s) or point.failure or "not measured"
    text = f"{text}, enough" if is_enough else text
    return Value(milliseconds(point.latency_s), text, _LOOKS[point.spinning])


class Threads(Stoppable):
    """Latency and processor time against thread counts. Made by `wb.threads`."""

    record: ThreadScalingRecord

    def uses(self) -> tuple[ConfigUse, ...]:
        """Return the fewest threads that are enough, with and without spinning, the fastest first."""
        knees = [self.record.knee(spinning=spinning) for spinning in (True, False)]
        known = sorted(filter(None, knees), key=lambda point: point.latency_s or 0.0)
        return tuple(map(_use, known))


def _use(point: ThreadPoint) -> ConfigUse:
    threads, spinning = point.threads, point.spinning
    words = f"Use {counted(threads, 'thread')}, {_how(spinning)} in B"

    def changed(config: Config) -> Config:
        return config.replace(intra_op_threads=threads, spinning=spinning)

    return ConfigUse("B", words, "Put this thread count into B", changed)


def threads(
    model: Model | Any,
    config: Config | None = None,
    *,
    most_threads: int | None = None,
    budget_s: float = THREADS_BUDGET_S,
    inputs: Feeds = None,
    seed: int = 0,
    calibration: Any = None,
    progress: ShowProgress = True,
    cancel: threading.Event | None = None,
    keep: bool = True,
) -> Threads:
    """Measure latency and processor time of 1, 2, 4… threads, spinning and not, in one comparison.

    `keep` adds the result to the history.
    """
    if most_threads is None:
        most_threads = usable_cores()
    fix = "give a whole number from 1 up, or leave it out for all cores"
    check_number("most_threads", most_threads, fix, least=1, most=_MOST_THREADS, whole=True)
    configs = thread_configs(config or Config(), most_threads)
    comparison = compare(
        model, *configs, inputs=inputs, budget_s=budget_s, seed=seed, calibration=calibration,
        progress=progress, keep=False, cancel=cancel,
    )  # fmt: skip
    return kept(Threads(scaling_of(comparison.record), comparison.about), keep)


FEATURE = Feature(
    "thread scaling",
    ThreadScalingRecord,
    result=Threads,
    chart=threads_chart,
    call="workbench.features.variants.threads:threads",
    command=Command(hints={"most_threads": "the most threads to try; default: all cores"}),
    fact="scaling",
    takes=("inputs", "seed", "calibration", "progress", "keep"),
    gates=gates_of_variants,
    heading="Latency by threads",
    button="Scale threads",
    hint="1, 2, 4… threads, spinning and not, in one comparison; for the config shown",
    step="with 1, 2, 4… threads, spinning and not",
    effort=(20.0, 24, 600),
    role="for fixed sizes",
    tabs=("Explore",),
)
