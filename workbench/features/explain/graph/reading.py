"""From a ModelProto to our graph: one pass over the nodes, subgraphs included, no weight looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

from workbench.core.models.declared import TensorType, value_type
from workbench.features.explain.graph.model import Graph, Node, TensorInfo
from workbench.features.explain.graph.modules import module_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, ValueInfoProto


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
