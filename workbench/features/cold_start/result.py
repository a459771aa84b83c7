"""Configs from no process to a steady one."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.per_run import PerRun
from workbench.features.cold_start.starts import ColdStartRecord, check_starts, cold_start


class ColdStarts(PerRun):
    """Configs from no process to a steady one. Made by `wb.cold_start`.

    >>> import workbench as wb
    >>> wb.ColdStarts.__name__
    'ColdStarts'
    """

    kind = "cold start"
    record: ColdStartRecord

    @property
    def starts(self) -> tuple[ColdStartRecord, ...]:
        """One record per config."""
        return tuple(self.by_label.values())

    def _in_words(self) -> str:
        return "\n".join(map(str, self.starts))  # each holds its label, and what saving ahead is worth


def examine(run: ExaminedRun) -> ColdStartRecord:
    """Start the config of the run in fresh processes."""
    runnable = run.runnable()
    run.announce("cold start")
    return cold_start(
        runnable.model.path, runnable.config, runnable.feeds, label=run.label, cancel=run.cancel
    )


FEATURE = Feature(
    "cold start",
    ColdStartRecord,
    check_starts,
    result=ColdStarts,
    chart="workbench.features.cold_start.chart:cold_start_chart",
    per="run",
    call="workbench.features.profile.calls:cold_start",
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    button="Cold start",
    hint="A and B from no process to a steady one, step by step",
    tabs=("memory",),
)
