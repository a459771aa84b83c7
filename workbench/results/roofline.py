"""Each node's time against the least that this machine needs."""

from __future__ import annotations

from workbench.analysis.roofline.machine_peaks import machine_peaks
from workbench.analysis.roofline.node_limits import RooflineRecord, measured_roofline
from workbench.analysis.roofline.peaks import check_peaks
from workbench.errors import BundleError
from workbench.results.examining import ExaminedRun
from workbench.results.per_run import PerRun
from workbench.results.registry import ResultKind
from workbench.text import quoted


class Roofline(PerRun):
    """Each node's time against the least that this machine needs. Made by `wb.roofline`.

    >>> import workbench as wb
    >>> wb.Roofline.__name__
    'Roofline'
    """

    kind = "roofline"
    record: RooflineRecord
    charted_by = "workbench.figures.limits:roofline_chart"
    drawn_by = "workbench.figures.roofline:roofline_figure"


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


KIND = ResultKind(
    "roofline",
    RooflineRecord,
    check_roofline,
    result=Roofline,
    scope="run",
    entry="workbench.api.profiling:roofline",
    takes=("inputs", "seed", "calibration"),
    examine=examine,
    button="Roofline",
    hint="Measure what this machine can do, and set each node against it",
    tabs=("roofline",),
    key="node",
)
