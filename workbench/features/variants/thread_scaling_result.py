"""Latency and processor time against thread counts."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.result import Result
from workbench.features.variants.thread_scaling import ThreadScalingRecord


class Threads(Result):
    """Latency and processor time against thread counts. Made by `wb.threads`.

    >>> import workbench as wb
    >>> wb.Threads.__name__
    'Threads'
    """

    record: ThreadScalingRecord


FEATURE = Feature(
    "thread scaling",
    ThreadScalingRecord,
    result=Threads,
    chart="workbench.features.variants.threads_chart:threads_chart",
    call="workbench.features.profile.calls:threads",
    fact="scaling",
    takes=("inputs", "seed", "calibration", "progress", "keep"),
    heading="Latency by threads",
    button="Scale threads",
    hint="1, 2, 4… threads, spinning and not, in one comparison; for the config shown",
    step="with 1, 2, 4… threads, spinning and not",
    tabs=("threads",),
)
