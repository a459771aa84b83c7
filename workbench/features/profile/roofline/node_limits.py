"""Each node's time against the least that its operations and bytes would take on this machine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from workbench.core.bundle.codec import TABLE
from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.errors import ProfileError
from workbench.core.text import counted, in_ms
from workbench.drawing.chart import Axis, Chart, ChartRow, Value, percent, series_look
from workbench.drawing.exportable import DrawnTable
from workbench.features.profile.flops.counting import Costs, costs_of
from workbench.features.profile.flops.shapes import Cost, profiled_shapes
from workbench.features.profile.roofline.peaks import PeakRow
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import node_table, seconds_by_run

Bound = Literal["compute", "memory"]
_BEYOND = 0.05  # of a peak; less is the noise of the profile
_INT8_PRODUCTS = "MatMulInteger MatMulIntegerToFloat DynamicQuantizeMatMul QLinearMatMul QGemm QAttention"
_INT8_OTHERS = "ConvInteger QLinearConv DynamicQuantizeLSTM"
HOST = frozenset({None, "CPUExecutionProvider", "XnnpackExecutionProvider", "DnnlExecutionProvider"})
INT8 = frozenset(f"{_INT8_PRODUCTS} {_INT8_OTHERS}".split())


@dataclass(frozen=True, slots=True)
class NodeLimit:
    """One executed node. A figure that is not known is None."""

    node: str
    op_type: str
    calls_per_run: float
    time_s: float  # of one run, its own
    flops: int | None  # of one call
    bytes_moved: int | None
    limit_s: float | None  # of one run, at the machine's peaks
    bound: Bound | None
    fastest_s: float | None = None  # of the run in which it was fastest: other work makes nodes slower

    @property
    def achieved(self) -> float | None:
        """The share of the peaks that the node reached; above 1 where its data was in a cache."""
        return None if self.limit_s is None or not self.time_s else self.limit_s / self.time_s

    @property
    def undisturbed(self) -> NodeLimit:
        """The same with the time of its fastest run, where that is known."""
        return self if self.fastest_s is None else replace(self, time_s=self.fastest_s)

    def times(self, factor: float) -> NodeLimit:
        """Return the same with its times multiplied."""
        fastest_s = None if self.fastest_s is None else self.fastest_s * factor
        return replace(self, time_s=self.time_s * factor, fastest_s=fastest_s)

    @property
    def beyond_peak(self) -> bool:
        """Whether the node computed faster than the measured peak: then the peak was measured too low."""
        return self.bound == "compute" and self.achieved is not None and self.achieved > 1 + _BEYOND

    @property
    def could_gain_s(self) -> float | None:
        """The time of a run above the limit; None where no limit is known, or a wrong one."""
        if self.limit_s is None or self.beyond_peak:
            return None
        return max(0.0, self.time_s - self.limit_s)


@dataclass(frozen=True, slots=True)
class RooflineRecord:
    """All nodes of a profile with their limits, and the peaks of the machine."""

    nodes: tuple[NodeLimit, ...] = field(metadata=TABLE)
    peaks: PeakRow
    run_s: float  # the latency that the times of the nodes are shares of: without the profiler where known

    def scaled_to(self, latency_s: float | None) -> RooflineRecord:
        """Return the same shares of a latency that was measured better; None changes nothing."""
        if latency_s is None or not self.run_s:
            return self
        factor = latency_s / self.run_s
        return replace(self, nodes=tuple(node.times(factor) for node in self.nodes), run_s=latency_s)

    @property
    def limit_s(self) -> float:
        """The time of a run at the limits, without gaps; a node without a limit counts as measured."""
        return sum(
            node.time_s if node.limit_s is None else min(node.limit_s, node.time_s) for node in self.nodes
        )

    @property
    def unknown(self) -> tuple[NodeLimit, ...]:
        """Nodes for which no limit is known."""
        return tuple(node for node in self.nodes if node.limit_s is None)

    @property
    def beyond_peaks(self) -> tuple[NodeLimit, ...]:
        """Nodes that computed faster than the measured peaks, the fastest first."""
        beyond = [node for node in self.nodes if node.beyond_peak]
        return tuple(sorted(beyond, key=lambda node: -(node.achieved or 0.0)))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Why limits may be wrong."""
        doubts = [] if self.peaks.doubt is None else [self.peaks.doubt]
        if self.beyond_peaks:
            count, first = counted(len(self.beyond_peaks), "node"), self.beyond_peaks[0]
            most = f"{first.op_type} at {(first.achieved or 0.0) * 100:.0f} %"
            doubts.append(
                f"{count} ran faster than the measured peaks ({most}), so the peaks were measured too low "
                "and the gain of these nodes is not known: measure again"
            )
        return tuple(doubts)

    def to_frame(self) -> DataFrame:
        """A row a node, slowest first, with what it could gain at the limit."""
        slowest_first = sorted(self.nodes, key=lambda node: -node.time_s)
        return frame_of(slowest_first, (*NodeLimit.__dataclass_fields__, "achieved", "could_gain_s"))

    def __str__(self) -> str:
        unknown_s = sum(node.time_s for node in self.unknown)
        count = "1 thread" if self.peaks.threads == 1 else f"{self.peaks.threads} threads"
        unknown = counted(len(self.unknown), "node")
        left = f"; counted as measured: {unknown} without a known limit, {in_ms(unknown_s, 3)}"
        gap_s = max(0.0, self.run_s - sum(node.time_s for node in self.nodes))
        return (
            f"{in_ms(self.run_s, 3)} a run, {in_ms(gap_s, 3)} of them between "
            f"nodes; at this machine's peaks with {count} its nodes would need {in_ms(self.limit_s, 3)}"
            f"{left if self.unknown else ''}" + "".join(f"; doubtful: {doubt}" for doubt in self.doubts)
        )


def costs_of_profile(profile: SessionProfile) -> Costs:
    """Return operations and bytes of the executed nodes, from the optimized graph and the profiled shapes."""
    if profile.optimized is None or profile.graph is None:
        raise ProfileError(
            "this profile holds no graph, so its nodes' operations and bytes are not known",
            "make it with wb.profile(model, config) on the CPU or CUDA; a trace alone has no weights' shapes",
        )
    return costs_of(profile.optimized, profiled_shapes(profile.graph, profile.measured))


def roofline(profile: SessionProfile, peaks: PeakRow) -> RooflineRecord:
    """Join time, cost and peaks by node name. The peaks are the CPU's, so nodes of a device have no limit."""
    every = costs_of_profile(profile).nodes
    named = profile.graph.by_name if profile.graph else {}
    costs = {node.node: node.cost for node in every if node.node in named}
    fastest = _fastest_runs(profile)
    nodes = []
    rows: Iterable[Any] = node_table(profile.steady).itertuples()
    for row in rows:
        cost, op_type = costs.get(row.node, Cost(None, None, None)), str(row.op_type)
        limit_s, bound = limit_of(op_type, cost, peaks) if row.provider in HOST else (None, None)
        nodes.append(
            NodeLimit(
                node=row.node,
                op_type=op_type,
                calls_per_run=float(row.calls),
                time_s=float(row.self_s),
                flops=cost.flops,
                bytes_moved=cost.bytes_moved,
                limit_s=None if limit_s is None else limit_s * row.calls,
                bound=bound,
                fastest_s=fastest.get(row.node),
            )
        )
    return RooflineRecord(tuple(nodes), peaks, profile.run_s)


def _fastest_runs(profile: SessionProfile) -> dict[str, float]:
    """Return the least own time of each node in a run that executed it."""
    names, seconds = seconds_by_run(profile.steady, "node")
    return {name: float(row[row > 0].min()) for name, row in zip(names, seconds, strict=True) if row.any()}


def measured_roofline(profile: SessionProfile, peaks: Callable[[bool], PeakRow]) -> RooflineRecord:
    """Set the nodes against peaks; measure disturbed ones again if nodes ran faster than they allow."""
    record = roofline(profile, peaks(False))
    if not record.beyond_peaks or record.peaks.others_cores is None:
        return record
    return roofline(profile, record.peaks.best_of(peaks(True)))


def limit_of(op_type: str, cost: Cost, peaks: PeakRow) -> tuple[float | None, Bound | None]:
    """Return the least time of one call and what binds it; None where a peak or a cost is not known."""
    peak = peaks.int8_flops if op_type in INT8 else peaks.float32_flops
    if cost.flops is None or cost.bytes_moved is None or peak is None or peaks.bytes_per_s is None:
        return None, None
    compute_s, memory_s = cost.flops / peak, cost.bytes_moved / peaks.bytes_per_s
    return (compute_s, "compute") if compute_s > memory_s else (memory_s, "memory")


OTHERS = "no convolution"


def kinds_of(model: Any) -> dict[str, str]:
    """Return the kind of each convolution of a graph by the node's name."""
    kinds = {}
    for node in model.graph.node:
        if "Conv" in node.op_type:
            attributes = {attribute.name: attribute for attribute in node.attribute}
            sizes = attributes["kernel_shape"].ints if "kernel_shape" in attributes else ()
            kernel = "×".join(map(str, sizes)) or "of unknown size"
            grouped_channels = "group" in attributes and attributes["group"].i > 1
            kinds[node.name] = f"depthwise {kernel}" if grouped_channels else kernel
    return kinds


def grouped(nodes: tuple[NodeLimit, ...], kinds: Mapping[str, str]) -> DrawnTable:
    """Sum operations and time up by kind, the most time first.

    `bound` is what binds most of the time of a kind; `achieved` is the limit of its time over its time.
    """
    groups: dict[str, list[NodeLimit]] = defaultdict(list)
    for node in nodes:
        groups[kinds.get(node.node, OTHERS)].append(node)
    all_operations, all_s = _operations(nodes), _seconds(nodes)
    looks = series_look(0, "share of the operations"), series_look(1, "share of the time")
    rows, sentences, bars = [], [], []
    computed = groups.items() if all_operations and all_s else ()
    for kind, members in sorted(computed, key=lambda group: -_seconds(group[1])):
        shares = _operations(members) / all_operations, _seconds(members) / all_s
        bound, achieved = _binding(members)
        rows.append((kind, len(members), *shares, bound, achieved))
        drawn = zip(shares, looks, strict=True)
        values = tuple(Value(percent(share), f"{share:.0%}", look) for share, look in drawn)
        bars.append(ChartRow(kind, (values,)))
        sentences.append(
            f"{kind} ({len(members)}): {shares[0]:.0%} of the operations, {shares[1]:.0%} of the time, "
            f"{in_ms(_seconds(members), 3)}{f', mostly bound by {bound}' if bound else ''}"
        )
    sentence = "; ".join(sentences) or f"No node {'computed anything' if nodes else 'was profiled'}."
    chart = Chart((f"Operations are no time; {sentence}",), (Axis("share of a run (%)"),), tuple(bars))
    columns = ("kind", "nodes", "operations_share", "time_share", "bound", "achieved")
    return DrawnTable(sentence, chart, columns, rows)


def _operations(nodes: Iterable[NodeLimit]) -> int:
    return sum(int((node.flops or 0) * node.calls_per_run) for node in nodes)


def _seconds(nodes: Iterable[NodeLimit]) -> float:
    return sum(node.time_s for node in nodes)


def _binding(nodes: list[NodeLimit]) -> tuple[str | None, float | None]:
    """Return what binds most of the time, and how near to their limits the nodes come, where it is known."""
    bounds: dict[str, float] = defaultdict(float)
    for node in nodes:
        if node.bound is not None:
            bounds[node.bound] += node.time_s
    limited = [node for node in nodes if node.limit_s is not None]
    limited_s = _seconds(limited)
    achieved = sum(node.limit_s or 0.0 for node in limited) / limited_s if limited_s else None
    return max(bounds, key=lambda bound: bounds[bound], default=None), achieved
