"""The input of rules: facts of one config of one model, each of which may be missing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.bundle.machine import Machine
from workbench.core.bundle.preparation import Preparation
from workbench.core.bundle.run import LogLine
from workbench.core.config import Config, DynamicInt8, StaticInt8, WeightOnly
from workbench.core.config.defaults import Family, family_of
from workbench.core.models.graph import Graph, Node, TensorInfo
from workbench.features.explain.passes.missed import Missed
from workbench.features.findings.finding import Forecast
from workbench.features.findings.known import Known
from workbench.features.findings.record import Confidence, Gain
from workbench.features.findings.weights import Weight, WeightScan
from workbench.features.profile.profiled_config import NodeRun, ProfiledConfig, Sharing

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

DISPATCH_S = 0.6e-6  # of a node, beside its kernel: measured on a Loop of small nodes
_ON_GPUS = (
    *("CUDAExecutionProvider", "TensorrtExecutionProvider", "NvTensorRTRTXExecutionProvider"),
    *("DmlExecutionProvider", "MIGraphXExecutionProvider", "WebGpuExecutionProvider"),
)
OF_QUANTIZED = ("layers", "layer_noise")
UNSURE = {"sure": 0.25, "likely": 0.5, "maybe": 1.0}  # of the predicted saving, to both sides


@dataclass(frozen=True, eq=False)
class Evidence(Known):
    """The known facts of one config of one model. Rules that need a missing fact (None) are skipped."""

    model_name: str
    config: Config
    machine: Machine
    structure: ModelProto  # the file loaded by ORT, without the payload of large tensors
    profiled: ProfiledConfig | None = None
    weights: WeightScan | None = None  # of the file loaded by ORT
    source_weights: WeightScan | None = None  # of the model before it was prepared
    source_structure: ModelProto | None = None  # of the model before it was prepared
    sharing: Sharing | None = None  # of each node's work among threads, in the profile
    log: tuple[LogLine, ...] | None = None
    preparation: Preparation | None = None
    baseline: Config | None = None  # what the comparison measured the config against
    verdict: Verdict | None = None
    agreement: tuple[OutputAgreement, ...] | None = None  # of the outputs with those of the baseline
    size_bytes: int = 0  # of the model's files
    sizes: tuple[tuple[str, int], ...] = ()  # free dimensions by name, as measured
    feed_sizes: tuple[tuple[tuple[str, int], ...], ...] = ()  # the same for each of several inputs
    random_inputs: bool = False

    def has(self, need: str) -> bool:
        """Return whether the fact of this name is known, or has nothing to tell of this config."""
        if need in OF_QUANTIZED and not is_quantized(self.config):
            return True
        if need == "verdict" and self.baseline == self.config:
            return True
        return getattr(self, need) is not None

    @cached_property
    def prepared(self) -> Graph:
        """The graph of the file loaded by ORT."""
        if self.explained is not None:
            return self.explained.prepared
        from workbench.core.models.graph_walk import read_graph

        return read_graph(self.structure)

    @cached_property
    def ran(self) -> Graph | None:
        """The executed graph; None if a provider compiled the graph."""
        if self.profiled is not None and self.profiled.graph is not None:
            return self.profiled.graph
        return None if self.explained is None else self.explained.optimized

    @cached_property
    def protos(self) -> Mapping[str, NodeProto]:
        """The nodes of the prepared file by first output, for attributes and constants."""
        return {node.output[0]: node for node in self.structure.graph.node if node.output}

    @property
    def missed(self) -> tuple[Missed, ...]:
        """The fusions that were expected and did not happen."""
        return () if self.explained is None else self.explained.passes.missed

    @property
    def on_cpu(self) -> bool:
        """Whether the CPU runs every node."""
        return all(provider.name == "CPUExecutionProvider" for provider in self.config.providers)

    @property
    def gpu(self) -> str | None:
        """The provider in effect that runs on a GPU; None if there is none."""
        return next((name for name in self.providers if name in _ON_GPUS), None)

    @property
    def providers(self) -> tuple[str, ...]:
        """The providers of the config without those that did not load."""
        missing = {name for name, _ in self.explained.placement.not_loaded} if self.explained else set()
        return tuple(p.name for p in self.config.providers if p.name not in missing)

    @property
    def threads(self) -> int | None:
        """The number of intra-op threads: as measured, else as the config sets it."""
        measured = None if self.run is None else self.run.threads
        return self.config.intra_op_threads if measured is None else measured

    @property
    def cores(self) -> int:
        """The number of cores that ORT's threads can use at once."""
        quota = self.machine.quota_cores
        return min(self.machine.usable_cores, math.ceil(quota)) if quota else self.machine.usable_cores

    @property
    def cpu_family(self) -> Family:
        """The family of the processor, which decides on the integer kernels."""
        return family_of(self.machine.isa_flags, self.machine.platform.rpartition("-")[2])

    # Time

    @property
    def run_s(self) -> float | None:
        """The latency of a run without the profiler."""
        if self.run is not None and self.run.latency.median_s is not None:
            return self.run.latency.median_s
        return None if self.profiled is None else self.profiled.run_s

    @cached_property
    def inside_s(self) -> float:
        """The time of a run inside of nodes; most of a profile's time between them is the profiler's."""
        profiled = self.profiled
        if profiled is None:
            return 0.0
        return max(profiled.time_s, profiled.run_s - len(profiled.nodes) * DISPATCH_S)

    def cost_s(self, nodes: Iterable[NodeRun]) -> float:
        """Return the time of these nodes in a run, scaled to the latency."""
        total = sum(node.time_s for node in nodes)
        profiled = self.profiled
        if profiled is None or not profiled.run_s or not profiled.time_s or self.run_s is None:
            return total
        return total * self.inside_s / profiled.time_s * self.run_s / profiled.run_s

    def of(self, *op_types: str) -> tuple[NodeRun, ...]:
        """Return the runs of nodes of these types, slowest first."""
        return () if self.profiled is None else self.profiled.of(op_types)

    def named(self, names: Iterable[str]) -> tuple[NodeRun, ...]:
        """Return the runs of the nodes of these names."""
        if self.profiled is None:
            return ()
        by_name = self.profiled.by_name
        return tuple(by_name[name] for name in dict.fromkeys(names) if name in by_name)

    def share(self, nodes: Iterable[NodeRun]) -> float:
        """Return the share of these nodes in a run's time."""
        return self.share_of(self.cost_s(nodes))

    def share_of(self, seconds: float) -> float:
        """Return the share of this time in a run's, at most 1."""
        return min(1.0, seconds / self.run_s) if self.run_s else 0.0

    def percent(self, nodes: Iterable[NodeRun], digits: int = 0) -> str:
        """Return the share of these nodes in a run's time as a text."""
        return f"{self.share(nodes) * 100:.{digits}f} %"

    def saving(
        self,
        runs: Sequence[NodeRun],
        factor: float,
        confidence: Confidence,
        *,
        nodes: Iterable[NodeRun | Node | str] | None = None,
        interval: Confidence | None = None,
    ) -> Forecast:
        """Return a forecast that this part of the time of these nodes can be saved.

        `nodes`: those that the finding is about, if others. `interval`: how sure the factor is, if not as the
        finding.
        """
        gain = self.time_gain(self.cost_s(runs) * factor, interval or confidence)
        return Forecast(confidence, gain, runs if nodes is None else nodes)

    def time_gain(self, saved_s: float, confidence: Confidence) -> Gain:
        """Return a predicted saving, the less confident the wider; unknown without a latency."""
        if not self.run_s:
            return Gain.unknown("time")
        off, most_s = saved_s * UNSURE[confidence], 0.99 * self.run_s
        low, saved_s, high = saved_s - off, min(saved_s, most_s), min(saved_s + off, most_s)
        return Gain("time", saved_s, low, high, self.share_of(saved_s))

    # Accuracy

    @property
    def read_weights(self) -> tuple[Weight, ...]:
        """The weights of the model before it was prepared."""
        return () if self.source_weights is None else self.source_weights.weights

    @property
    def source_nodes(self) -> tuple[Node, ...]:
        """The nodes of the model before it was prepared."""
        return self.prepared.nodes if self.explained is None else self.explained.source.nodes

    @cached_property
    def layer_noise(self) -> tuple[tuple[tuple[str, ...], float], ...] | None:
        """The nodes of each layer with the squared error that it causes alone, relative to its output."""
        study = self.sensitivity
        if study is not None and study.mode == "alone":
            return tuple((row.nodes, row.error**2) for row in study.rows if row.error is not None)
        if self.layers is None:
            return None
        known = [(layer.node, layer.weakest_db) for layer in self.layers.layers]
        return tuple(((node,), 10 ** (-decibels / 10)) for node, decibels in known if decibels is not None)

    # Nodes

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the executed graph; none if a provider compiled the graph."""
        return () if self.ran is None else self.ran.nodes

    def node(self, name: str) -> Node | None:
        """Return the node of the executed graph, or None."""
        return None if self.ran is None else self.ran.by_key.get(name)

    def proto(self, name: str) -> NodeProto | None:
        """Return the node of the prepared file that makes the first output of an executed node, or None."""
        node = self.node(name)
        return None if node is None or not node.outputs else self.protos.get(node.outputs[0])

    def rows(self, name: str) -> int | None:
        """Return the number of rows that a node of the executed graph makes; None if its shape is unknown."""
        node = self.node(name)
        info = None if node is None else self.info(node.outputs[0])
        if info is None or info.dims is None:
            return None
        sizes = [dim for dim in info.dims[:-1] if isinstance(dim, int)]
        return math.prod(sizes) if len(sizes) == len(info.dims) - 1 else None

    def weight_of(self, name: str) -> TensorInfo | None:
        """Return the constant second input of a node of the executed graph, if it has one."""
        node = self.node(name)
        if self.ran is None or node is None or len(node.inputs) < 2:
            return None
        return self.ran.constants.get(node.inputs[1])

    def info(self, name: str) -> TensorInfo | None:
        """Return what is known of a tensor in the executed graph, else in the model's file."""
        known = [self.ran, *([self.explained.optimized, self.explained.source] if self.explained else [])]
        infos = (graph.info(name) for graph in known if graph is not None)
        return next((info for info in infos if info is not None and info.dims is not None), None)

    def users(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes of the executed graph that read outputs of this node."""
        readers = {} if self.ran is None else self.ran.readers
        return tuple(user for name in node.outputs for user in readers.get(name, ()))

    def makers(self, node: Node) -> tuple[Node, ...]:
        """Return the nodes of the executed graph that produce inputs of this node."""
        producers = {} if self.ran is None else self.ran.producers
        return tuple(producers[name] for name in node.inputs if name in producers)

    def around(self, nodes: Iterable[Node]) -> tuple[Node, ...]:
        """Return these nodes of the executed graph, each between its makers and its users."""
        return tuple(near for node in nodes for near in (*self.makers(node), node, *self.users(node)))


def is_quantized(config: Config) -> bool:
    """Return whether a config computes in integers."""
    return isinstance(config.precision, DynamicInt8 | StaticInt8 | WeightOnly)
