"""The nodes that one config executed, with their times and the graph that ran: what the rules read."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.core.config import Config
from workbench.core.measure.limits import Limits
from workbench.core.models.model import Model
from workbench.core.prepare.runnable import make_runnable
from workbench.core.worker.values import Feed
from workbench.features.explain.graph import Graph, Node, read_graph
from workbench.features.profile.running import Execution, profile_execution
from workbench.features.profile.tables import seconds_by_run

if TYPE_CHECKING:
    from onnx import ModelProto

    from workbench.features.profile.session_profile import Profile

# By what MLAS computes in integers, and ORT's fused forms of it.
INTEGER = frozenset(
    {
        *("QLinearConv", "QLinearMatMul", "QGemm", "QLinearAdd", "QLinearMul", "QLinearConcat"),
        *("QLinearAveragePool", "QLinearGlobalAveragePool", "QLinearSigmoid", "QLinearLeakyRelu"),
        *("QLinearSoftmax", "QLinearReduceMean", "QLinearWhere", "QAttention", "QEmbedLayerNormalization"),
        *("ConvInteger", "MatMulInteger", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QOrderedMatMul"),
        *("DynamicQuantizeLSTM", "MatMulInteger16", "QMoE"),
    }
)
BLOCKWISE = frozenset({"MatMulNBits", "GatherBlockQuantized", "MatMulBnb4"})
QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"
PRODUCTS = frozenset({"Conv", "FusedConv", "NhwcFusedConv", "MatMul", "Gemm", "FusedMatMul", "FusedGemm"})
MOVING = frozenset({"ReorderInput", "ReorderOutput", "Transpose", "Reshape", "Identity", "Cast", "Unsqueeze"})


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
    """One config: the executed nodes, the graph that ran and the file that was loaded."""

    label: str
    config: Config
    nodes: tuple[NodeRun, ...]
    between_s: float  # of a run, outside of all nodes
    run_s: float  # the latency that node times are scaled to: `Profile.run_s`
    graph: Graph | None  # None: a provider compiles its partitions, so the graph cannot be saved
    source: Graph
    profile: Profile
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
        return self.where(lambda run: run.op_type in wanted)

    def where(self, chosen: Callable[[NodeRun], bool]) -> tuple[NodeRun, ...]:
        """Return the executed nodes that `chosen` accepts, the costliest first."""
        return tuple(sorted(filter(chosen, self.nodes), key=lambda run: -run.time_s))

    def share(self, nodes: Iterable[NodeRun]) -> float | None:
        """Return the share of these nodes in the time inside of nodes."""
        return sum(run.time_s for run in nodes) / self.time_s if self.time_s else None

    def makers(self, node: Node) -> list[Node]:
        """Return the nodes that make the inputs of a node, through those that only move data."""
        graph = self._graph()
        return _beyond_moving(
            [graph.producers.get(name) for name in node.inputs],
            lambda moving: [graph.producers.get(name) for name in moving.inputs],
        )

    def users(self, node: Node) -> list[Node]:
        """Return the nodes that read the outputs of a node, through those that only move data."""
        readers_of = self._graph().readers_of
        return _beyond_moving(readers_of(node), readers_of)

    def _graph(self) -> Graph:
        assert self.graph is not None
        return self.graph


def profiled_config(label: str, config: Config, profile: Profile, source: ModelProto) -> ProfiledConfig:
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
    shares_by_run = seconds / seconds.sum(axis=0)
    typical_shares = np.median(shares_by_run, axis=1)
    times_s = typical_shares / typical_shares.sum() * run_s
    nodes, between_s = [], 0.0
    for name, row, time_s in zip(names, shares_by_run.tolist(), times_s.tolist(), strict=True):
        shares = tuple(row)
        if name in kinds:
            nodes.append(NodeRun(name, *kinds[name], time_s, shares))
        else:
            between_s += time_s
    return ProfiledConfig(
        label=label,
        config=config,
        nodes=tuple(nodes),
        between_s=between_s,
        run_s=run_s,
        graph=None if profile.optimized is None else read_graph(profile.optimized),
        source=read_graph(source),
        profile=profile,
        samples_s=samples,
    )


def profile_config(
    model: Model,
    config: Config,
    feeds: Sequence[Feed],
    label: str,
    *,
    latency_s: float | None = None,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> ProfiledConfig:
    """Prepare the model, run it under the profiler for a moment, and read the profile.

    Times are shares of `latency_s`, where the latency was measured better than by this profile.
    """
    runnable = make_runnable(model, config, feeds, calibration=calibration, cancel=cancel)
    profile = profile_execution(Execution.of(runnable, limits=limits or Limits()), cancel=cancel)
    return profiled_config(label, config, profile.scaled_to(latency_s), runnable.model.structure)


def _beyond_moving(
    start: Iterable[Node | None], onward: Callable[[Node], Iterable[Node | None]]
) -> list[Node]:
    """Return the first nodes that do more than move data, in the order of the walk."""
    reached: list[Node] = []
    waiting, visited = list(start), set()
    while waiting:
        node = waiting.pop()
        if node is None or node.key in visited:
            continue
        visited.add(node.key)
        if node.op_type in MOVING:
            waiting += onward(node)
        else:
            reached.append(node)
    return reached
