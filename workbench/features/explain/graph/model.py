"""Nodes and tensors as frozen values; a key is a name together with the subgraph that it lives in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod

from workbench.core.bundle.codec import TABLE

ELEMENT_BYTES = {  # of onnx.TensorProto's data types; 4-bit types count as half a byte
    1: 4.0, 2: 1.0, 3: 1.0, 4: 2.0, 5: 2.0, 6: 4.0, 7: 8.0, 9: 1.0, 10: 2.0, 11: 8.0, 12: 4.0, 13: 8.0,
    14: 8.0, 15: 16.0, 16: 2.0, 17: 1.0, 18: 1.0, 19: 1.0, 20: 1.0, 21: 0.5, 22: 0.5, 23: 0.5, 24: 1.0,
}  # fmt: skip

_BODIES = ("then_branch", "else_branch", "body")  # attributes of If, Loop and Scan


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """The declared or inferred type and dims of a tensor: None where unknown, a text where symbolic."""

    element: int | None
    dims: tuple[int | str | None, ...] | None

    @property
    def size_bytes(self) -> int | None:
        """The size in bytes; None where the type or any dim is not known."""
        if self.dims is None or self.element not in ELEMENT_BYTES:
            return None
        known = [dim for dim in self.dims if isinstance(dim, int)]
        return int(prod(known) * ELEMENT_BYTES[self.element]) if len(known) == len(self.dims) else None


@dataclass(frozen=True, slots=True)
class Node:
    """One node. `reads` is `inputs` and, for control flow, what its bodies capture and give back."""

    key: str
    name: str
    scope: str  # "" in the main graph; else "if_node/then_branch", …
    op_type: str
    domain: str  # "" for ai.onnx
    inputs: tuple[str, ...]  # tensor keys; "" for one left out
    outputs: tuple[str, ...]
    reads: tuple[str, ...]
    digest: str  # of the attributes, subgraphs left out
    module: str = ""  # `encoder.layer.0`, where an exporter tells it in the node's metadata

    @property
    def kind(self) -> str:
        """The operator with its domain where it is not ONNX's own."""
        return f"{self.domain}::{self.op_type}" if self.domain else self.op_type


@dataclass(frozen=True, eq=False)
class Graph:
    """A main graph with all of its subgraphs, flat and in topological order (bodies before their node)."""

    nodes: tuple[Node, ...] = field(metadata=TABLE)
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: Mapping[str, TensorInfo] = field(repr=False, metadata=TABLE)  # initializers, and sparse ones
    infos: Mapping[str, TensorInfo] = field(repr=False, metadata=TABLE)  # of any other tensor
    opsets: tuple[tuple[str, int], ...] = ()  # domain → version

    def opset(self, domain: str) -> int | None:
        """Return the version of a domain's operators; None where the model does not tell."""
        return next((version for name, version in self.opsets if name == domain), None)

    @cached_property
    def by_key(self) -> Mapping[str, Node]:
        return {node.key: node for node in self.nodes}

    @cached_property
    def producers(self) -> Mapping[str, Node]:
        """The node that makes each tensor."""
        return {name: node for node in self.nodes for name in node.outputs if name}

    @cached_property
    def readers(self) -> Mapping[str, tuple[Node, ...]]:
        """The nodes that read each tensor, each once."""
        readers: dict[str, list[Node]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.reads):
                if name:
                    readers.setdefault(name, []).append(node)
        return {name: tuple(nodes) for name, nodes in readers.items()}

    def makers_of(self, node: Node) -> list[Node]:
        """Return the nodes that make what a node reads, one for each tensor read."""
        return [self.producers[name] for name in node.reads if name in self.producers]

    def readers_of(self, node: Node) -> list[Node]:
        """Return the nodes that read what a node makes, one for each reading."""
        return [reader for name in node.outputs for reader in self.readers.get(name, ())]

    @cached_property
    def tensors(self) -> frozenset[str]:
        """Everything that has a value: inputs of the graph and of its bodies, constants, outputs of nodes."""
        return frozenset((*self.inputs, *self.constants, *self.producers))

    def info(self, tensor: str) -> TensorInfo | None:
        return self.constants.get(tensor) or self.infos.get(tensor)


def informed(graph: Graph, source: Graph) -> Graph:
    """Return the graph with types and shapes of the tensors that the source has too: ORT saves neither."""
    infos = {name: source.infos[name] for name in graph.producers if name in source.infos}
    return replace(graph, infos=infos | dict(graph.infos))


def with_branch_constants(graph: Graph, source: Graph) -> Graph:
    """Return a saved graph with the Constant nodes of bodies that ORT writes where it changed no node.

    In a file with weights beside, those in bodies of the main graph become initializers of the same names.
    """
    bodies = {f"{node.key}/{body}" for node in source.nodes if not node.scope for body in _BODIES}
    inside = [node for node in source.nodes if node.scope in bodies and node.kind == "Constant"]
    restored = {node.outputs[0]: node for node in inside if node.outputs[0] in graph.constants}
    if not restored or _without_constants(graph) != _without_constants(source):
        return graph
    constants = {name: info for name, info in graph.constants.items() if name not in restored}
    infos = {name: graph.constants[name] for name in restored}
    nodes = (*restored.values(), *graph.nodes)
    return replace(graph, nodes=nodes, constants=constants, infos=infos | dict(graph.infos))


def _without_constants(graph: Graph) -> list[tuple[str, str, tuple[str, ...]]]:
    """Return key, kind and inputs of each node but the Constant nodes, in the order of keys."""
    return sorted((node.key, node.kind, node.inputs) for node in graph.nodes if node.kind != "Constant")
