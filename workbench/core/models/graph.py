"""A graph as plain frozen values: nodes, tensors, subgraphs, without weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from workbench.core.bundle.codec import TABLE
from workbench.core.models.element_type import size_bytes


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """The declared or inferred type and dims of a tensor: None where unknown, a text where symbolic."""

    element: int | None
    dims: tuple[int | str | None, ...] | None

    @property
    def size_bytes(self) -> int | None:
        """The size in bytes; None where the type or any dim is not known."""
        shape = self.shape
        return None if shape is None or self.element is None else size_bytes(self.element, shape)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The dims where all are known."""
        known = tuple(dim for dim in self.dims or () if isinstance(dim, int))
        return known if self.dims is not None and len(known) == len(self.dims) else None


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
    def by_name(self) -> Mapping[str, Node]:
        """The nodes by name, without those of two branches that share one: a trace cannot tell them apart."""
        counts = Counter(node.name for node in self.nodes)
        return {node.name: node for node in self.nodes if counts[node.name] == 1}

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

    @property
    def kinds(self) -> Counter[str]:
        """The number of nodes of each operator."""
        return Counter(node.kind for node in self.nodes)

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
