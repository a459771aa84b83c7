"""Each node's time against the least that this machine needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from workbench.core.errors import BundleError
from workbench.core.feature import Feature
from workbench.core.text import counted, in_ms, quoted
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, milliseconds, series_look, time_value
from workbench.features.base.examining import ExaminedRun
from workbench.features.base.measured import PerRun
from workbench.features.profile.examining import profile_of_run
from workbench.features.profile.roofline.node_limits import NodeLimit, RooflineRecord, measured_roofline
from workbench.features.profile.roofline.peaks import PeakTable, check_peaks, machine_peaks


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
    profile = profile_of_run(run)
    run.announce("roofline")
    return measured_roofline(
        profile, lambda again: machine_peaks(run.threads, again=again, cancel=run.cancel)
    )


_MOST_NODES = 12
_TIME, _LIMIT = series_look(0, "time of a run"), series_look(1, "at the machine's peaks")
_RATES = (
    (series_look(0, "float32 (GFLOP/s)"), "float32_flops"),
    (series_look(1, "int8 (GOP/s)"), "int8_flops"),
    (series_look(2, "memory (GB/s)"), "bytes_per_s"),
)


def roofline_chart(by_label: Mapping[str, RooflineRecord]) -> Chart:
    """Return a row for each of the slowest nodes: its time, and the least that the peaks allow."""
    rows, several = [], len(by_label) > 1
    for label, roofline in by_label.items():
        slowest = sorted(roofline.nodes, key=lambda node: -node.time_s)[
            : max(1, _MOST_NODES // len(by_label))
        ]
        rows += [_node_row(node, f"{node.node} ({label})" if several else node.node) for node in slowest]
    lines = [f"{label}: {roofline}" if several else str(roofline) for label, roofline in by_label.items()]
    count = sum(len(roofline.nodes) for roofline in by_label.values())
    note = "" if len(rows) == count else f"the slowest {len(rows)} of {count:,} nodes"
    title = f"The slowest nodes and their limits; {'; '.join(lines)}"
    return Chart((title,), (Axis("time of a run (ms)"),), tuple(rows), note)


def peaks_chart(table: PeakTable) -> Chart:
    """Return a row for each thread count: the rates that ORT reached on this machine."""
    rows = []
    for row in table.rows:
        rates = [(look, getattr(row, field)) for look, field in _RATES]
        bars = (
            Value(None, "not measured", look)
            if rate is None
            else Value(rate / 1e9, f"{rate / 1e9:,.1f}", look)
            for look, rate in rates
        )
        rows.append(ChartRow(counted(row.threads, "thread"), (tuple(bars),)))
    title = "The best that ONNX Runtime reaches on this machine"
    return Chart((title,), (Axis("billions a second"),), tuple(rows))


def _node_row(node: NodeLimit, label: str) -> ChartRow:
    limit = "limit not known" if node.limit_s is None else f"{in_ms(node.limit_s, 3)}, bound by {node.bound}"
    time = time_value(node.time_s, _TIME, "", digits=3)
    return ChartRow(label, ((time, Value(milliseconds(node.limit_s), limit, _LIMIT)),))


FEATURE = Feature(
    "roofline",
    RooflineRecord,
    check_roofline,
    result=Roofline,
    chart="workbench.features.profile.roofline.result:roofline_chart",
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
