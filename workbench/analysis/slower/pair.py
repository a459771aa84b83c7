"""Two sides and the machine: what every reason looks at, and how a reason is put together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.analysis.graph import Node
from workbench.analysis.slower.profiled_config import QUANTIZE, NodeRun, ProfiledConfig
from workbench.records.machine import Machine
from workbench.records.reasons import Reason, ReasonKind
from workbench.text import in_ms

MOST_NODES = 8  # named in a reason
LEAST_SHARE = 0.01  # of the time in nodes; less explains nothing
INT8, UINT8, UINT16, INT16 = 3, 2, 4, 5  # TensorProto's numbers
CPU = "CPUExecutionProvider"


@dataclass(frozen=True, slots=True)
class Pair:
    """The baseline, the candidate, and where they ran."""

    baseline: ProfiledConfig
    candidate: ProfiledConfig
    machine: Machine

    @property
    def precision(self) -> object:
        """What the candidate's config asks for; None where the file came quantized."""
        return getattr(self.candidate.config, "precision", None)

    @property
    def on_x86(self) -> bool:
        return any(name in self.machine.platform.lower() for name in ("x86", "amd64"))


def reason(pair: Pair, kind: ReasonKind, nodes: Sequence[NodeRun], sentence: str, fix: str) -> Reason:
    """`{cost}` in the sentence becomes the time of the nodes with its share."""
    cost_s = sum(one.time_s for one in nodes)
    share = pair.candidate.share(nodes)
    told = in_ms(cost_s) or ""
    if share is not None:
        told += f" ({share * 100:.0f} %)"
    ordered = sorted(nodes, key=lambda one: -one.time_s)
    return Reason(
        kind=kind,
        sentence=sentence.replace("{cost}", told),
        cost_s=cost_s,
        share=share,
        node_count=len(nodes),
        nodes=tuple(one.node for one in ordered[:MOST_NODES]),
        fix=fix,
    )


def node_of(side: ProfiledConfig, one: NodeRun) -> Node | None:
    return None if side.graph is None else side.graph.by_key.get(one.node)


def zero_points(side: ProfiledConfig) -> set[int]:
    """Element types of the zero points that activations are quantized with, in the file."""
    found = set()
    for node in side.source.nodes:
        if node.op_type == QUANTIZE and len(node.inputs) > 2 and node.inputs[2]:
            info = side.source.info(node.inputs[2])
            if info is not None and info.element is not None:
                found.add(info.element)
    return found


def is_16_bit(side: ProfiledConfig) -> bool:
    """The file keeps weights in float16 or bfloat16."""
    return any(info.element in (10, 16) for info in side.source.constants.values())


def counted(of: Mapping[str, int]) -> str:
    ordered = sorted(of.items(), key=lambda item: (-item[1], item[0]))
    more = f" and {len(ordered) - 5} more types" if len(ordered) > 5 else ""
    return ", ".join(f"{count} {name}" for name, count in ordered[:5]) + more
