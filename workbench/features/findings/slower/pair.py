"""Two profiled configs and the machine: the input of every rule, and how a rule writes a reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.core.bundle.machine import Machine
from workbench.core.config.difference import Change
from workbench.core.text import in_ms
from workbench.features.explain.graph import Graph, Node
from workbench.features.findings.reasons import Reason, ReasonKind
from workbench.features.findings.slower.profiled_config import QUANTIZE, NodeRun, ProfiledConfig

MOST_NODES = 8  # named in a reason
LEAST_SHARE = 0.01  # of the time in nodes; less explains nothing
INT8, UINT8, UINT16, INT16 = 3, 2, 4, 5  # TensorProto's numbers
CPU = "CPUExecutionProvider"
_CHANGES_FILE = frozenset({"precision", "fusion", "saved_graph"})


@dataclass(frozen=True, slots=True)
class Pair:
    """The baseline, the candidate, and the machine of both."""

    baseline: ProfiledConfig
    candidate: ProfiledConfig
    machine: Machine

    @property
    def precision(self) -> object:
        """The precision that the candidate's config asks for; None where the file came quantized."""
        return getattr(self.candidate.config, "precision", None)

    @property
    def same_file(self) -> bool:
        """Whether both sessions loaded the same graph, so that only their settings differ."""
        return _nodes_of(self.baseline.source) == _nodes_of(self.candidate.source)

    @property
    def settings(self) -> tuple[Change, ...]:
        """The settings of the session in which the candidate differs."""
        changes = self.baseline.config.diff(self.candidate.config).changes
        return tuple(change for change in changes if change.field not in _CHANGES_FILE)

    @property
    def on_x86(self) -> bool:
        return any(name in self.machine.platform.lower() for name in ("x86", "amd64"))


def reason(pair: Pair, kind: ReasonKind, nodes: Sequence[NodeRun], sentence: str, fix: str) -> Reason:
    """Return a reason; `{cost}` in the sentence becomes the time of the nodes with its share."""
    cost_s = sum(run.time_s for run in nodes)
    share = cost_s / pair.candidate.run_s if pair.candidate.run_s else None
    cost = in_ms(cost_s) or ""
    if share is not None:
        cost += f" ({share * 100:.0f} %)"
    ordered = sorted(nodes, key=lambda run: -run.time_s)
    return Reason(
        kind=kind,
        sentence=sentence.replace("{cost}", cost),
        cost_s=cost_s,
        share=share,
        node_count=len(nodes),
        nodes=tuple(run.node for run in ordered[:MOST_NODES]),
        fix=fix,
    )


def node_of(profiled: ProfiledConfig, run: NodeRun) -> Node | None:
    """Return the node of the graph that ran; None without a graph."""
    return None if profiled.graph is None else profiled.graph.by_key.get(run.node)


def zero_points(profiled: ProfiledConfig) -> set[int]:
    """Return the element types of the zero points with which the file quantizes activations."""
    elements = set()
    for node in profiled.source.nodes:
        if node.op_type == QUANTIZE and len(node.inputs) > 2 and node.inputs[2]:
            info = profiled.source.info(node.inputs[2])
            if info is not None and info.element is not None:
                elements.add(info.element)
    return elements


def is_16_bit(profiled: ProfiledConfig) -> bool:
    """Return whether the file keeps weights in float16 or bfloat16."""
    return any(info.element in (10, 16) for info in profiled.source.constants.values())


def counted(counts: Mapping[str, int]) -> str:
    """Return "6 Conv, 2 Add and 3 more types", the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(ordered) - 5} more types" if len(ordered) > 5 else ""
    return ", ".join(f"{count} {name}" for name, count in ordered[:5]) + more


def _nodes_of(graph: Graph) -> list[tuple[str, str, str]]:
    return [(node.key, node.kind, node.digest) for node in graph.nodes]
