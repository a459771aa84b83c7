"""What ran of one config, node by node, with the graph that ran: what the reasons are found in."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from workbench.analysis.graph import Graph, Node, read_graph
from workbench.analysis.profile.running import Execution, profile_execution
from workbench.config import Config
from workbench.measure.limits import Limits
from workbench.models.model import Model
from workbench.preparation.feeds import cast_feeds
from workbench.preparation.preparing import prepare
from workbench.worker.values import Feed

if TYPE_CHECKING:
    from onnx import ModelProto

    from workbench.analysis.profile.profile import Profile

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
    """One node that was executed, and the median of its own time in a run."""

    node: str
    op_type: str
    provider: str | None
    time_s: float


@dataclass(frozen=True, eq=False)
class ProfiledConfig:
    """One config: what was executed, the graph that ran and the file that was loaded."""

    label: str
    config: Config
    nodes: tuple[NodeRun, ...]
    between_s: float  # in a run, not inside of any node
    run_s: float  # the median of unprofiled runs
    graph: Graph | None  # None: a provider compiles its parts, so it cannot be saved
    source: Graph

    @cached_property
    def time_s(self) -> float:
        """In nodes, of a run."""
        return sum(one.time_s for one in self.nodes)

    @cached_property
    def by_name(self) -> dict[str, NodeRun]:
        return {one.node: one for one in self.nodes}

    def of(self, kinds: Iterable[str]) -> tuple[NodeRun, ...]:
        """What ran of these types, the costliest first."""
        wanted = frozenset(kinds)
        return self.where(lambda one: one.op_type in wanted)

    def where(self, chosen: Callable[[NodeRun], bool]) -> tuple[NodeRun, ...]:
        return tuple(sorted(filter(chosen, self.nodes), key=lambda one: -one.time_s))

    def share(self, nodes: Iterable[NodeRun]) -> float | None:
        """Of the time in nodes."""
        return sum(one.time_s for one in nodes) / self.time_s if self.time_s else None

    def makers(self, node: Node) -> list[Node]:
        """The nodes that make the inputs of a node, through those that only move data."""
        assert self.graph is not None
        found: list[Node] = []
        todo, seen = [self.graph.producers.get(name) for name in node.inputs], set()
        while todo:
            maker = todo.pop()
            if maker is None or maker.key in seen:
                continue
            seen.add(maker.key)
            if maker.op_type in MOVING:
                todo += [self.graph.producers.get(name) for name in maker.inputs]
            else:
                found.append(maker)
        return found

    def users(self, node: Node) -> list[Node]:
        """The nodes that read the outputs of a node, through those that only move data."""
        assert self.graph is not None
        found: list[Node] = []
        todo, seen = [user for name in node.outputs for user in self.graph.readers.get(name, ())], set()
        while todo:
            user = todo.pop()
            if user.key in seen:
                continue
            seen.add(user.key)
            if user.op_type in MOVING:
                todo += [after for name in user.outputs for after in self.graph.readers.get(name, ())]
            else:
                found.append(user)
        return found


def profiled_config(label: str, config: Config, profile: Profile, source: ModelProto) -> ProfiledConfig:
    """From a profile with the graph that ran. Medians over runs, since single runs are disturbed."""
    kinds = profile.to_frame().set_index("node")
    times = profile.variation("node")
    ran, between_s = [], 0.0
    for name, time_s in zip(times["node"], times["median_s"], strict=True):
        if name in kinds.index:
            row = kinds.loc[name]
            ran.append(NodeRun(str(name), str(row["op_type"]), row["provider"], float(time_s)))
        else:
            between_s += float(time_s)
    overhead = profile.overhead
    plain = overhead.plain_s if overhead and overhead.plain_s else profile.runs_s
    return ProfiledConfig(
        label=label,
        config=config,
        nodes=tuple(ran),
        between_s=between_s,
        run_s=median(plain),
        graph=None if profile.optimized is None else read_graph(profile.optimized),
        source=read_graph(source),
    )


def profile_config(
    model: Model,
    config: Config,
    feeds: Sequence[Feed],
    label: str,
    *,
    calibration: Any = None,
    cancel: threading.Event | None = None,
    limits: Limits | None = None,
) -> ProfiledConfig:
    """Prepare, run under the profiler for a moment, read what ran."""
    prepared = prepare(model, config, calibration=calibration, cancel=cancel)
    execution = Execution(
        model=prepared.model.path,
        config=prepared.config,
        feeds=cast_feeds(feeds, prepared.model),
        limits=limits or Limits(),
    )
    profile = profile_execution(execution, cancel=cancel)
    return profiled_config(label, config, profile, prepared.model.structure)
