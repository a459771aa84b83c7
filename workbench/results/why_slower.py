"""Why a config is slower."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.records.reasons import Reason, WhySlowerRecord, check_reasons
from workbench.results.registry import ResultKind
from workbench.results.result import Result

if TYPE_CHECKING:
    from workbench.figures.chart import Chart


class WhySlower(Result):
    """Why a quantized or 16-bit config is slower, or no faster. Made by `wb.why_slower`.

    >>> import workbench as wb
    >>> wb.WhySlower.__name__
    'WhySlower'
    """

    record: WhySlowerRecord

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons, the costliest first."""
        return self.record.reasons

    def chart(self) -> Chart:
        """Return one bar per reason: the time of a run that its nodes take."""
        from workbench.figures.layers import why_slower_chart

        return why_slower_chart(self.record)


KIND = ResultKind(
    "why slower",
    WhySlowerRecord,
    check_reasons,
    None,
    result=WhySlower,
    scope="candidate",
    entry="workbench.api.precision:why_slower",
    takes=("progress",),
    needs=("comparison",),
    heading="Why B is slower",
    button="Why B is slower",
    hint="What costs B its time against A, with a fix for each cause: both run again under ORT's profiler",
    step="A and B under ORT's profiler",
    tabs=("accuracy",),
)
