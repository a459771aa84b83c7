"""Random graphs with known rewrites, made without ORT: what is to be recovered is known by construction."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

from workbench.core.models.graph import Graph, Node, TensorInfo

OPS = ("Add", "Mul", "Relu", "Tanh", "MatMul", "Sub")


@dataclass
class Draft:
    """A graph that can be rewritten, with the true account kept beside it."""

    nodes: list[Node]
    outputs: tuple[str, ...]
    constants: dict[str, TensorInfo] = field(default_factory=dict)
    sources: dict[str, set[str]] = field(default_factory=dict)  # node → source nodes
    lost: dict[str, str] = field(default_factory=dict)
    fresh: int = 0

    def graph(self) -> Graph:
        return Graph(tuple(self.nodes), ("x",), self.outputs, dict(self.constants), {})

    def readers(self, tensor: str) -> list[Node]:
        return [node for node in self.nodes if tensor in node.inputs]

    def producer(self, tensor: str) -> Node | None:
        return next((node for node in self.nodes if tensor in node.outputs), None)

    def swap(self, old: Node, new: Node | None) -> None:
        index = self.nodes.index(old)
        self.nodes[index : index + 1] = [new] if new else []


def node(name: str, op_type: str, inputs: tuple[str, ...], output: str, domain: str = "") -> Node:
    return Node(name, name, "", op_type, domain, inputs, (output,), inputs, "")


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    """A graph of up to 25 nodes of which each reads one or two earlier tensors."""
    count = draw(st.integers(2, 25))
    tensors, nodes = ["x"], []
    for index in range(count):
        op = draw(st.sampled_from(OPS))
        arity = 1 if op in ("Relu", "Tanh") else 2
        inputs = tuple(draw(st.sampled_from(tensors[-6:])) for _ in range(arity))
        nodes.append(node(f"n{index}", op, inputs, f"t{index}"))
        tensors.append(f"t{index}")
    read = {name for node in nodes for name in node.inputs}
    outputs = tuple(node.outputs[0] for node in nodes if node.outputs[0] not in read)
    return Draft(nodes, outputs, sources={node.key: {node.key} for node in nodes})


def fuse(draft: Draft, pick: int) -> None:
    """A node and its only reader become one, which makes the reader's tensor."""
    pairs = [
        (node, readers[0])
        for node in draft.nodes
        if node.outputs[0] not in draft.outputs and len(readers := draft.readers(node.outputs[0])) == 1
    ]
    if not pairs:
        return
    first, second = pairs[pick % len(pairs)]
    draft.fresh += 1
    inputs = tuple(dict.fromkeys((*first.inputs, *(n for n in second.inputs if n != first.outputs[0]))))
    new = node(
        f"fused{draft.fresh}", f"{first.op_type}{second.op_type}", inputs, second.outputs[0], "com.microsoft"
    )
    draft.swap(second, new)
    draft.swap(first, None)
    draft.sources[new.key] = draft.sources.pop(first.key) | draft.sources.pop(second.key)


def bypass(draft: Draft, pick: int) -> None:
    """A node goes and its readers read its first input: an Identity, a Dropout, a Cast to the same type."""
    able = [node for node in draft.nodes if node.outputs[0] not in draft.outputs]
    if not able:
        return
    gone = able[pick % len(able)]
    _lose(draft, gone, "eliminated")
    _redirect(draft, gone.outputs[0], gone.inputs[0])
    _sweep(draft, "eliminated", (gone,))


def fold(draft: Draft, pick: int) -> None:
    """A node becomes a constant of the same name."""
    able = [node for node in draft.nodes if node.outputs[0] not in draft.outputs]
    if not able:
        return
    gone = able[pick % len(able)]
    _lose(draft, gone, "folded")
    draft.constants[gone.outputs[0]] = TensorInfo(1, (4,))
    _sweep(draft, "folded", (gone,))


def rename(draft: Draft, pick: int) -> None:
    """A node is replaced by another operator that does the same: Gemm for MatMul, a contrib op for ONNX's."""
    old = draft.nodes[pick % len(draft.nodes)]
    draft.fresh += 1
    new = node(f"new{draft.fresh}", f"{old.op_type}X", old.inputs, old.outputs[0], "com.microsoft")
    draft.swap(old, new)
    draft.sources[new.key] = draft.sources.pop(old.key)


REWRITES = (fuse, bypass, fold, rename)


def _lose(draft: Draft, gone: Node, fate: str) -> None:
    draft.swap(gone, None)
    for source in draft.sources.pop(gone.key):
        if not any(source in sources for sources in draft.sources.values()):
            draft.lost[source] = fate


def _redirect(draft: Draft, tensor: str, to: str) -> None:
    for node in list(draft.nodes):
        if tensor in node.inputs:
            inputs = tuple(to if name == tensor else name for name in node.inputs)
            draft.swap(
                node,
                Node(node.key, node.name, "", node.op_type, node.domain, inputs, node.outputs, inputs, ""),
            )


def _sweep(draft: Draft, fate: str, roots: tuple[Node, ...]) -> None:
    """What only fed the node that went goes with it, as in ORT."""
    waiting = list(roots)
    while waiting:
        for name in waiting.pop().inputs:
            maker = draft.producer(name)
            if maker is not None and name not in draft.outputs and not draft.readers(name):
                _lose(draft, maker, fate)
                waiting.append(maker)
