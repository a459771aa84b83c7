"""The cost of one node, and of every node of a graph whose shapes are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbench.core.bundle.display import DataFrame, frame_of
from workbench.core.models.graph_walk import GraphWalk, WalkedNode
from workbench.features.profile.flops.products import PRODUCTS, VIEW_OPS, operations
from workbench.features.profile.flops.shapes import Cost, Operand, Unknown, Work

if TYPE_CHECKING:
    from onnx import ModelProto

STANDARD = ("", "ai.onnx", "com.microsoft", "com.microsoft.nchwc", "com.ms.internal.nhwc")
WITH_BODIES = ("If", "Loop", "Scan")  # their bodies are counted node by node
_GATHERS = ("Gather", "GatherElements", "GatherND", "GatherBlockQuantized")


@dataclass(frozen=True, slots=True)
class NodeCost:
    """One node of a graph and its cost."""

    node: str
    op_type: str
    cost: Cost


@dataclass(frozen=True, slots=True)
class Costs:
    """Every node of a graph, in its order."""

    nodes: tuple[NodeCost, ...]

    @property
    def macs(self) -> int:
        """The multiply-adds of the nodes where they are known; `unknown` names the others."""
        return sum(node.cost.macs or 0 for node in self.nodes)

    @property
    def flops(self) -> int:
        """The operations of the nodes where they are known."""
        return sum(node.cost.flops or 0 for node in self.nodes)

    @property
    def unknown(self) -> tuple[NodeCost, ...]:
        """Nodes whose operations are not known: no formula, or no shape."""
        return tuple(node for node in self.nodes if node.cost.flops is None)

    def to_frame(self) -> DataFrame:
        """One row per node: node, op_type, macs, flops, bytes_moved, intensity (operations a byte)."""
        attributes = ("node", "op_type", "cost.macs", "cost.flops", "cost.bytes_moved")
        whole = dict.fromkeys(("macs", "flops", "bytes_moved"), "Int64")
        frame = frame_of(self.nodes, attributes).astype(whole)
        frame["intensity"] = frame["flops"] / frame["bytes_moved"].where(frame["bytes_moved"] > 0)
        return frame


def cost_of(work: Work) -> Cost:
    """Return the cost of a node; each part is None where it cannot be known."""
    moved = _bytes_moved(work)
    if work.domain not in STANDARD or work.op_type in WITH_BODIES:
        return Cost(None, None, moved)
    try:
        if work.op_type in PRODUCTS:
            macs = PRODUCTS[work.op_type](work)
            return Cost(macs, 2 * macs, moved)
        flops = operations(work)
    except (Unknown, IndexError, ValueError):  # also a shape that does not fit the operator
        return Cost(None, None, moved)
    return Cost(None if flops is None else 0, flops, moved)


def costs_of(model: ModelProto, shapes: Mapping[str, Operand]) -> Costs:
    """Return the costs of a model's nodes, bodies once, with the tensors' shapes by key."""
    nodes = GraphWalk(model.graph).nodes
    return Costs(tuple(NodeCost(n.proto.name, n.op_type, cost_of(_work(n, shapes))) for n in nodes))


def _work(node: WalkedNode, shapes: Mapping[str, Operand]) -> Work:
    unknown = Operand(None, None)
    inputs, outputs = (
        tuple(shapes.get(key, unknown) if key else None for key in keys)
        for keys in (node.inputs, node.outputs)
    )
    attributes = {entry.name: _attribute(entry) for entry in node.proto.attribute if not entry.HasField("g")}
    return Work(node.op_type, node.proto.domain, attributes, inputs, outputs)


def _attribute(attribute: Any) -> Any:
    from onnx.helper import get_attribute_value

    value = get_attribute_value(attribute)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _bytes_moved(work: Work) -> int | None:
    if work.op_type in VIEW_OPS:
        return 0
    inputs = list(work.inputs)
    if work.op_type in _GATHERS and inputs:
        inputs[0] = work.outputs[0]  # only the gathered rows are read
    sizes = [tensor.size_bytes for tensor in (*inputs, *work.outputs) if tensor is not None]
    return None if None in sizes else sum(size for size in sizes if size is not None)
