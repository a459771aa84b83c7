"""The nodes that one config executed, with their times and the graph that ran: what the rules read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.config import Config
from workbench.core.measure.limits import Limits
from workbench.core.models.graph import Graph
from workbench.core.models.model import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.values import Feed
from workbench.features.profile.running import Execution, profile_execution
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import seconds_by_run
from workbench.features.profile.trace import Scheduling, node_name

WAITING = 0.10  # of a node's time: more means that the calling thread finished well before the others
HANDING_OUT = 0.10
SERIAL = 0.5  # of a node's time in parallel sections; less means that most of it ran on one thread


@dataclass(frozen=True, slots=True)
class NodeSharing:
    """One node over all counted runs; times are of the thread that called it."""

    node: str
    op_type: str | None
    calls: int  # with scheduling statistics
    time_s: float
    run_s: float  # of the calling thread on its part
    wait_s: float  # for the other threads
    distribute_s: float  # handing the work out
    helpers: int  # other threads of the pool
    helped: float | None  # the share of these that took any work; None: there are none

    @property
    def words(self) -> str:
        """The meaning of the figures, in short."""
        if not self.time_s:
            return "too short to measure"
        if self.helped is None:
            return "runs on one thread, as configured"
        if self.helped == 0:
            return "runs on one thread: too small or not made to be split, so more threads do not help it"
        idle, waiting, handing = 1 - self.helped, self.wait_s / self.time_s, self.distribute_s / self.time_s
        parallel = self.run_s / self.time_s + waiting + handing
        parts = (
            (idle > 0, f"{idle * 100:.0f} % of the other threads' turns took no work"),
            (waiting > WAITING, f"uneven: the caller waits {waiting * 100:.0f} % of the time for others"),
            (handing > HANDING_OUT, f"handing out the work takes {handing * 100:.0f} %: pieces too small"),
            (parallel < SERIAL, "most of it lies outside of parallel sections"),
        )
        return "; ".join(words for applies, words in parts if applies) or "shared evenly"


@dataclass(frozen=True, slots=True)
class Sharing:
    """Every node with scheduling statistics, slowest first."""

    nodes: tuple[NodeSharing, ...]

    def to_frame(self) -> DataFrame:
        """One row per node, with its `words`."""
        return frame_of(self.nodes, (*NodeSharing.__dataclass_fields__, "words"))


def sharing_of(profile: SessionProfile) -> Sharing:
    """Sum the statistics by node; ORT writes them for parallel sections of 1 µs and more."""
    trace = profile.trace
    counted = set(profile.measured.events.tolist())
    by_node: dict[str, list[Scheduling]] = {}
    for record in trace.scheduling:
        if record.event in counted:
            by_node.setdefault(node_name(trace.name_of(record.event)), []).append(record)
    nodes = []
    for name, records in by_node.items():
        call = trace.call_of(records[-1].event)
        helping = [count > 0 for record in records for count in record.others_ran]
        nodes.append(
            NodeSharing(
                node=name,
                op_type=None if call is None else call.op_type,
                calls=len(records),
                time_s=sum(float(trace.duration_us[record.event]) for record in records) / 1e6,
                run_s=sum(record.run_us for record in records) / 1e6,
                wait_s=sum(record.wait_us for record in records) / 1e6,
                distribute_s=sum(record.distribute_us for record in records) / 1e6,
                helpers=round(len(helping) / len(records)),
                helped=sum(helping) / len(helping) if helping else None,
            )
        )
    return Sharing(tuple(sorted(nodes, key=lambda node: -node.time_s)))


# By what MLAS computes in integers, and ORT's fused forms of it.
INTEGER_OPERATORS = frozenset(
    {
        *("QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul", "QLinearConcat"),
        *("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearSigmoid", "QLinearLeakyRelu"),
        *("QLinearSoftmax", "QLinearReduceMean", "QLinearWhere", "QAttention", "QEmbedLayerNormalization"),
        *("ConvInteger", "MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QOrderedMatMul"),
        *("DynamicQuantizeLSTM", "MatMulInteger16", "QMoE"),
    }
)
FLOAT_PRODUCTS = frozenset(
    {"Conv", "FusedConv", "NhwcFusedConv", "MatMul", "Gemm", "FusedMatMul", "FusedGemm"}
)


@dataclass(frozen=True, slots=True)
class NodeRun:
    """One executed node. `time_s` is its typical share of a profiled run times the unprofiled latency."""

    node: str
    op_type: str
    provider: str | None
    time_s: float
    shares: tuple[float, ...] = ()  # of each profiled run's duration


@dataclass(frozen=True, eq=False)
class ProfiledConfig:
    """One config: the executed nodes and the graph that ran."""

    nodes: tuple[NodeRun, ...]
    run_s: float  # the latency that node times are scaled to: `SessionProfile.run_s`
    graph: Graph | None  # None: a provider compiles its partitions, so the graph cannot be saved
    profile: SessionProfile
    samples_s: tuple[float, ...] = ()  # unprofiled runs

    @cached_property
    def time_s(self) -> float:
        """Seconds of a run inside of nodes."""
        return sum(run.time_s for run in self.nodes)

    @cached_property
    def by_name(self) -> Mapping[str, NodeRun]:
        return {run.node: run for run in self.nodes}

    def of(self, op_types: Iterable[str]) -> tuple[NodeRun, ...]:
        """Return the executed nodes of these types, the costliest first."""
        wanted = frozenset(op_types)
        return tuple(
            sorted((run for run in self.nodes if run.op_type in wanted), key=lambda run: -run.time_s)
        )

    def share(self, nodes: Iterable[NodeRun]) -> float | None:
        """Return the share of these nodes in the time inside of nodes."""
        return sum(run.time_s for run in nodes) / self.time_s if self.time_s else None


def profiled_config(profile: SessionProfile) -> ProfiledConfig:
    """Read a profile. Medians over runs, since single runs are disturbed, scaled to add up to a run."""
    table = profile.to_frame()
    kinds = {
        str(name): (str(op_type), provider)
        for name, op_type, provider in zip(table["node"], table["op_type"], table["provider"], strict=True)
    }
    overhead = profile.overhead
    samples = overhead.plain_s if overhead and overhead.plain_s else profile.runs_s
    run_s = profile.run_s
    names, seconds = seconds_by_run(profile.measured, "node")
    took = seconds.sum(axis=0) > 0  # the profiler's clock counts microseconds
    timed = seconds[:, took] if took.any() else np.zeros((len(names), 1))
    whole = timed.sum(axis=0)
    shares_by_run = np.divide(timed, whole, out=np.zeros_like(timed), where=whole > 0)
    typical_shares = np.median(shares_by_run, axis=1)
    times_s = typical_shares * (run_s / (typical_shares.sum() or 1.0))
    nodes = (
        NodeRun(name, *kinds[name], time_s, tuple(row))
        for name, row, time_s in zip(names, shares_by_run.tolist(), times_s.tolist(), strict=True)
        if name in kinds  # others are the time between nodes
    )
    return ProfiledConfig(
        nodes=tuple(nodes),
        run_s=run_s,
        graph=profile.graph,
        profile=profile,
        samples_s=samples,
    )


def profile_config(
    model: Model,
    config: Config,
    feeds: Sequence[Feed],
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> ProfiledConfig:
    """Prepare the model, run it under the profiler for a moment, and read the profile."""
    runnable = make_runnable(model, config, feeds, calibration=calibration, cancel=cancel)
    profile = profile_execution(Execution.of(runnable, limits=limits or Limits()), cancel=cancel)
    return profiled_config(profile)
