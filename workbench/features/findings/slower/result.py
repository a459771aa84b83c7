"""Why a config is slower."""

from __future__ import annotations

from workbench.core.feature import Feature
from workbench.features.base.result import Result
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.slower.record import WhySlowerRecord, check_reasons


class WhySlower(Result):
    """Why a config is slower, or no faster, than another. Made by `wb.why_slower`."""

    record: WhySlowerRecord

    @property
    def reasons(self) -> tuple[FindingRecord, ...]:
        """The findings that hold for the slower config alone, the costliest first."""
        return self.record.reasons


FEATURE = Feature(
    "why slower",
    WhySlowerRecord,
    check_reasons,
    result=WhySlower,
    chart="workbench.features.findings.chart:why_slower_chart",
    per="candidate",
    call="workbench.features.findings.slower.call:why_slower",
    takes=("progress",),
    needs=("comparison",),
    cards="workbench.features.findings.slower.cards:cards",
    heading="Why B is slower",
    button="Why B is slower",
    hint="What costs B its time against A, with a fix for each cause: both run again under ORT's profiler",
    step="A and B under ORT's profiler",
    effort=(2.0, 8, 60),
    tabs=("Where time goes",),
)
