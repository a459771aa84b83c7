"""Each node's time against the least that this machine needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from workbench.core.errors import BundleError
from workbench.core.feature import Feature
from workbench.core.text import quoted
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.per_run import PerRun
from workbench.features.profile.roofline.machine_peaks import machine_peaks
from workbench.features.profile.roofline.node_limits import RooflineRecord, measured_roofline
from workbench.features.profile.roofline.peaks import check_peaks


class Roofline(PerRun):
    """Each node's time against the least that this machine needs. Made by `wb.roofline`."""

    kind = "roofline"
    record: RooflineRecord

    def measured_at(self, latency_s: Mapping[str, float], label: str | None) -> Self:
        """Return each run's shares of the latency that was measured without the profiler."""
        del label
        scaled = {run: record.scaled_to(latency_s.get(run)) for run, record in self.by_label.items()}
        return self.of(scaled, self.about)


def check_roofline(record: RooflineRecord, fix: str) -> None:
    """Refuse counts below zero, which no node has."""
    check_peaks(record.peaks, fix)
    for node in record.nodes:
        if min(node.flops or 0, node.bytes_moved or 0, node.calls_per_run, node.time_s) < 0:
            raise BundleError(f"nodes: {quoted(node.node)} has a count or time below 0.", fix)


def examine(run: ExaminedRun) -> RooflineRecord:
    """Set the nodes of the run's profile against the peaks of this machine."""
    profile = run.profile()
    run.announce("roofline")
    return measured_roofline(
        profile, lambda again: machine_peaks(run.threads, again=again, cancel=run.cancel)
    )


FEATURE = Feature(
    "roofline",
    RooflineRecord,
    check_roofline,
    result=Roofline,
    chart="workbench.features.profile.roofline.limits_chart:roofline_chart",
    figure="workbench.features.profile.roofline.chart:roofline_figure",
    per="run",
    side_by_side=True,
    heading="Roofline",
    call="workbench.features.profile.calls:roofline",
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    fact="roofline",
    button="Roofline",
    hint="Measure what this machine can do, and set each node against it",
    question="How near to the hardware's limit?",
    effort=(6.0, 4, 60),
    tabs=("Where time goes",),
    key="node",
)
