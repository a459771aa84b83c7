"""The nodes that one config executed, with their times and the graph that ran: what the rules read."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from workbench.core.config import Config
from workbench.core.measure.limits import Limits
from workbench.core.models.model import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.values import Feed
from workbench.features.explain.graph import Graph, read_graph
from workbench.features.profile.running import Execution, profile_execution
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import seconds_by_run

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
        graph=None if profile.optimized is None else read_graph(profile.optimized),
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
