"""Measured pipelines as a result."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.result import Result, run_of
from workbench.features.pipelines.record import PipelinesRecord, StageFigures, check_pipelines


class Pipelines(Result):
    """Pipelines of models and functions. Made by `wb.measure_pipelines`.

    >>> import workbench as wb
    >>> wb.Pipelines.__name__
    'Pipelines'
    """

    record: PipelinesRecord

    def stages(self, label: str = "A") -> tuple[StageFigures, ...]:
        """Return the time and the share of each stage of a pipeline, and what a faster one would give."""
        figures: tuple[StageFigures, ...] = run_of(self.record.runs, label).figures
        return figures

    @property
    def subject(self) -> str:
        """The stages of the first pipeline."""
        return self.record.runs[0].name


FEATURE = Feature(
    "pipelines",
    PipelinesRecord,
    check_pipelines,
    result=Pipelines,
    chart="workbench.features.pipelines.chart:pipelines_chart",
    per="runs",
    call="workbench.features.pipelines.call:measure_pipelines",
    takes=("inputs", "seed", "budget_s", "progress", "keep"),
    heading="Stages of the pipeline",
    step="pipelines in turns",
)
