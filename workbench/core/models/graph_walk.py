"""One walk over a model's graph: each node and tensor with a key, in the order in which they run."""

from __future__ import annotations

import ast
import hashlib
from collections import ChainMap
from typing import TYPE_CHECKING, NamedTuple

from workbench.core.models.declared import TensorType, value_type
from workbench.core.models.graph import Graph, Node, TensorInfo

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto, TensorProto, ValueInfoProto

NAME_SCOPES = "pkg.torch.onnx.name_scopes"  # what torch's newer exporter writes: module paths, the node last
NO_MODULE = "_empty_nn_module_stack"  # its word for a node of no module
_MOST_LETTERS = 1 << 16
_MOST_SCOPE_LETTERS = 1000


class WalkedNode(NamedTuple):
    """A node of the model with the keys of what it reads and makes."""

    proto: NodeProto
    key: str
    scope: str  # "" in the main graph; else "if_node/then_branch", …
    inputs: tuple[str, ...]  # "" for one left out
    outputs: tuple[str, ...]
    captured: tuple[str, ...] = ()  # what its bodies read from outside and give back
    given: tuple[tuple[str, ...], ...] = ()  # the inputs of each of its bodies

    @property
    def op_type(self) -> str:
        return self.proto.op_type

    @property
    def reads(self) -> tuple[str, ...]:
        """Everything that it reads, each once."""
        return tuple(dict.fromkeys(filter(None, (*self.inputs, *self.captured))))


class GraphWalk:
    """The nodes and tensors of a graph and of all bodies inside, bodies before their node.

    Two branches may use one name for two tensors, and a body may hide a name that stands outside. The key of
    a tensor tells them apart: its name in the main graph, "if_node/then_branch::name" in a body.
    """

    def __init__(self, graph: GraphProto) -> None:
        self.nodes: list[WalkedNode] = []
        self.stored: dict[str, TensorProto] = {}  # initializers
        self.constants: dict[str, TensorInfo] = {}  # initializers, and sparse ones
        self.infos: dict[str, TensorInfo] = {}  # of any other tensor
        self.bound: list[str] = []  # inputs of bodies: they have a value without a producer
        self._numbers: dict[str, int] = {}  # key → the last number behind it
        self.outputs = self._graph(graph, "", ChainMap())

    def _graph(self, graph: GraphProto, scope: str, outer: ChainMap[str, str]) -> tuple[str, ...]:
        """Walk over one graph and return the keys of its outputs. `outer`: keys of names outside."""
        visible = outer.new_child()
        self._declare(graph, scope, visible)
        for node in graph.node:
            self._node(node, scope, visible)
        return tuple(visible.get(value.name, value.name) for value in graph.output)

    def _declare(self, graph: GraphProto, scope: str, visible: ChainMap[str, str]) -> None:
        for value in graph.input:
            key = visible[value.name] = _key(scope, value.name)
            self.infos[key] = _info(value)
            if scope:
                self.bound.append(key)
        for tensor in graph.initializer:
            key = visible[tensor.name] = _key(scope, tensor.name)
            self.stored[key] = tensor
            self.constants[key] = TensorInfo(tensor.data_type, tuple(tensor.dims))
        for sparse in graph.sparse_initializer:
            key = visible[sparse.values.name] = _key(scope, sparse.values.name)
            self.constants[key] = TensorInfo(sparse.values.data_type, tuple(sparse.dims))
        for node in graph.node:
            visible.update((name, _key(scope, name)) for name in node.output if name)
        for value in (*graph.value_info, *graph.output):
            if value.name in visible and visible[value.name] not in self.constants:
                self.infos[visible[value.name]] = _info(value)

    def _node(self, node: NodeProto, scope: str, visible: ChainMap[str, str]) -> None:
        key = self._unique(_key(scope, node.name or node.op_type))
        inputs = tuple(visible.get(name, name) for name in node.input)
        outputs = tuple(visible[name] if name else "" for name in node.output)
        captured: list[str] = []
        given: list[tuple[str, ...]] = []
        for attribute in node.attribute:
            bodies = [attribute.g] if attribute.HasField("g") else attribute.graphs
            for number, body in enumerate(bodies):
                inner = f"{key}/{attribute.name}" + (f"[{number}]" if len(bodies) > 1 else "")
                if len(inner) > _MOST_SCOPE_LETTERS:  # each key inside begins with it
                    inner = _key(scope, f"…{hashlib.blake2b(inner.encode(), digest_size=8).hexdigest()}")
                captured += self._body(body, inner, visible)
                given.append(tuple(_key(inner, value.name) for value in body.input))
        self.nodes.append(WalkedNode(node, key, scope, inputs, outputs, tuple(captured), tuple(given)))

    def _body(self, body: GraphProto, scope: str, visible: ChainMap[str, str]) -> list[str]:
        """Walk over a body and return the keys of its outputs and of what it reads from outside."""
        first = len(self.nodes)
        outputs = self._graph(body, scope, visible)
        inside = (node for node in self.nodes[first:] if node.scope == scope)
        used = (name for node in inside for name in node.reads)
        return [*outputs, *(name for name in used if not name.startswith(f"{scope}::"))]

    def _unique(self, key: str) -> str:
        """Return a key that no other node has: a damaged model may hold two nodes of one name."""
        unique = key
        while unique in self._numbers:
            self._numbers[key] += 1
            unique = f"{key}#{self._numbers[key]}"
        self._numbers[unique] = 1
        return unique


def read_graph(model: ModelProto) -> Graph:
    """Read the main graph with its subgraphs; calls of the model's own functions stay calls."""
    walk = GraphWalk(model.graph)
    inputs = (value.name for value in model.graph.input if value.name not in walk.constants)
    opsets = {_domain(opset.domain): opset.version for opset in model.opset_import}
    return Graph(
        tuple(_frozen(node) for node in walk.nodes), (*inputs, *walk.bound), walk.outputs, walk.constants,
        walk.infos, tuple(sorted(opsets.items())),
    )  # fmt: skip


def _frozen(node: WalkedNode) -> Node:
    return Node(
        key=node.key,
        name=node.proto.name,
        scope=node.scope,
        op_type=node.op_type,
        domain=_domain(node.proto.domain),
        inputs=node.inputs,
        outputs=node.outputs,
        reads=node.reads,
        digest=_digest(node.proto),
        module=module_of(node.proto),
    )


def _key(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


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
