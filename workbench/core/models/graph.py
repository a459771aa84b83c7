"""A graph as plain frozen values: nodes, tensors, subgraphs, without weights."""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from workbench.core.bundle.codec import TABLE
from workbench.core.models.declared import TensorType, value_type

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto


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


NAME_SCOPES = "pkg.torch.onnx.name_scopes"  # what torch's newer exporter writes: module paths, the node last
NO_MODULE = "_empty_nn_module_stack"  # its word for a node of no module
_MOST_LETTERS = 1 << 16


def module_of(node: NodeProto) -> str:
    """Return the module path, such as "model.encoder.layer.0"; "" where the metadata has none."""
    text = next((entry.value for entry in node.metadata_props if entry.key == NAME_SCOPES), "")
    if not text or len(text) > _MOST_LETTERS:
        return ""
    try:
        parts = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    module = parts[-2] if isinstance(parts, list) and len(parts) > 1 else None
    return module if isinstance(module, str) and not module.startswith(NO_MODULE) else ""


def dotted(text: str) -> list[str]:
    """Split `encoder.layer.0.attention` into encoder, layer.0, attention: a number stays with its name."""
    parts: list[str] = []
    for part in text.split("."):
        if part.isdecimal() and parts:
            parts[-1] = f"{parts[-1]}.{part}"
        elif part:
            parts.append(part)
    return parts


def read_graph(model: ModelProto) -> Graph:
    """Read the main graph with its subgraphs; calls of the model's own functions stay calls."""
    reader = _Reader()
    outputs = reader.graph(model.graph, "", {})
    inputs = tuple(value.name for value in model.graph.input if value.name not in reader.constants)
    opsets = {
        "" if opset.domain == "ai.onnx" else opset.domain: opset.version for opset in model.opset_import
    }
    return Graph(
        tuple(reader.nodes), inputs + tuple(reader.bound), outputs, reader.constants, reader.infos,
        tuple(sorted(opsets.items())),
    )  # fmt: skip


class _Reader:
    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.constants: dict[str, TensorInfo] = {}
        self.infos: dict[str, TensorInfo] = {}
        self.bound: list[str] = []  # inputs of bodies: they have a value without a producer
        self._keys: set[str] = set()

    def graph(self, graph: GraphProto, scope: str, outer: Mapping[str, str]) -> tuple[str, ...]:
        """Read one graph and return the keys of its outputs. `outer`: keys of names outside."""
        visible = dict(outer)
        self._declare(graph, scope, visible)
        for node in graph.node:
            self._node(node, scope, visible)
        return tuple(visible.get(value.name, value.name) for value in graph.output)

    def _declare(self, graph: GraphProto, scope: str, visible: dict[str, str]) -> None:
        for value in graph.input:
            key = visible[value.name] = _key(scope, value.name)
            self.infos[key] = _info(value)
            if scope:
                self.bound.append(key)
        for tensor in graph.initializer:
            key = visible[tensor.name] = _key(scope, tensor.name)
            self.constants[key] = TensorInfo(tensor.data_type, tuple(tensor.dims))
        for sparse in graph.sparse_initializer:
            key = visible[sparse.values.name] = _key(scope, sparse.values.name)
            self.constants[key] = TensorInfo(sparse.values.data_type, tuple(sparse.dims))
        for node in graph.node:
            visible.update((name, _key(scope, name)) for name in node.output if name)
        for value in (*graph.value_info, *graph.output):
            if value.name in visible and visible[value.name] not in self.constants:
                self.infos[visible[value.name]] = _info(value)

    def _node(self, node: NodeProto, scope: str, visible: Mapping[str, str]) -> None:
        key = self._unique(_key(scope, node.name or node.op_type))
        inputs = tuple(visible.get(name, name) for name in node.input)
        reads = list(inputs)
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.HasField("g") else list(attribute.graphs)
            for number, body in enumerate(bodies):
                inner = f"{key}/{attribute.name}" + (f"[{number}]" if len(bodies) > 1 else "")
                first = len(self.nodes)
                reads += self.graph(body, inner, visible)
                made = {name for inner_node in self.nodes[first:] for name in inner_node.outputs}
                used = (
                    name for inner_node in self.nodes[first:] for name in inner_node.reads if name not in made
                )
                reads += (name for name in used if not name.startswith(f"{inner}::"))
        self.nodes.append(
            Node(
                key=key,
                name=node.name,
                scope=scope,
                op_type=node.op_type,
                domain="" if node.domain == "ai.onnx" else node.domain,
                inputs=inputs,
                outputs=tuple(visible[name] if name else "" for name in node.output),
                reads=tuple(dict.fromkeys(name for name in reads if name)),
                digest=_digest(node),
                module=module_of(node),
            )
        )

    def _unique(self, key: str) -> str:
        """Return a key that no other node has: a damaged model may hold two nodes of one name."""
        unique, number = key, 1
        while unique in self._keys:
            number += 1
            unique = f"{key}#{number}"
        self._keys.add(unique)
        return unique


def _key(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name


def _digest(node: NodeProto) -> str:
    parts = sorted(
        attribute.SerializeToString(deterministic=True)
        for attribute in node.attribute
        if not attribute.HasField("g") and not attribute.graphs
    )
    return hashlib.blake2b(b"\0".join(parts), digest_size=8).hexdigest() if parts else ""


def _info(value: ValueInfoProto) -> TensorInfo:
    kind = value_type(value.type)
    if not isinstance(kind, TensorType) or kind.sparse:
        return TensorInfo(None, None)
    return TensorInfo(kind.element or None, kind.dims)
