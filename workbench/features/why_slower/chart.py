"""What makes a config slower."""

from __future__ import annotations

from workbench.drawing.chart import Axis, Chart, Look, one_value, time_value
from workbench.drawing.palette import LOSS
from workbench.features.why_slower.result import WhySlowerRecord

_LOST = Look(LOSS)


def why_slower_chart(record: WhySlowerRecord) -> Chart:
    """Return a row for each reason with its cost, the costliest first."""
    rows = (
        one_value(
            reason.id, time_value(reason.cost_s, _LOST, "", detail=f"{reason.sentence} {reason.fix.text}")
        )
        for reason in record.reasons
        if reason.cost_s is not None
    )
    note = "by reason; a node may count for several; shares of profiled runs times the latency"
    return Chart((record.headline,), (Axis("time of a run (ms)"),), tuple(rows), note)
