"""Latency and processor time against thread counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.analysis.threads.scaling import ThreadScalingRecord
from workbench.records.kinds import anything
from workbench.results.registry import ResultKind
from workbench.results.result import Result

if TYPE_CHECKING:
    from workbench.figures.chart import Chart


class Threads(Result):
    """Latency and processor time against thread counts. Made by `wb.threads`.

    >>> import workbench as wb
    >>> wb.Threads.__name__
    'Threads'
    """

    record: ThreadScalingRecord

    def chart(self) -> Chart:
        """Return latency and processor time, the knee marked."""
        from workbench.figures.threads import threads_chart

        return threads_chart(self.record)


KIND = ResultKind(
    "thread scaling",
    ThreadScalingRecord,
    anything,
    None,
    result=Threads,
    entry="workbench.api.profiling:threads",
    takes=("inputs", "seed", "calibration", "progress", "keep"),
    heading="Latency by threads",
    button="Scale threads",
    hint="1, 2, 4… threads, spinning and not, in one comparison; for the config shown",
    step="with 1, 2, 4… threads, spinning and not",
    tabs=("threads",),
)
