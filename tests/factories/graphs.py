"""Small graphs to look at, with names as strangers might give them."""

from __future__ import annotations

from benchmarks.graphs import explained_of
from workbench.core.models.graph import Graph, Node, TensorInfo
from workbench.features.explain.explanation import Explained
from workbench.features.explain.graph_view.pane import GraphRow, Pane, pane_of

HOSTILE = (
    "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"
    "\u202e\u2028`${window.hacked=1}"
)


def node(name: str, op_type: str, inputs: tuple[str, ...], output: str, domain: str = "") -> Node:
    return Node(name, name, "", op_type, domain, inputs, (output,), inputs, "")


def graph(*nodes: Node, outputs: tuple[str, ...] = ("y",)) -> Graph:
    infos = {name: TensorInfo(1, (1, 4)) for one in nodes for name in one.outputs}
    return Graph(nodes, ("x",), outputs, {}, infos)


def fused() -> Explained:
    """MatMul and Add became one; Softmax fell to the CPU."""
    matmul, soft = node("/a/MatMul", "MatMul", ("x", "w"), "m"), node("/a/Softmax", "Softmax", ("s",), "y")
    source = graph(matmul, node("/a/Add", "Add", ("m", "b"), "s"), soft)
    final = graph(node("/a/Gemm", "Gemm", ("x", "w", "b"), "s"), soft)
    return explained_of(source, final, on_cpu=("Softmax",))


def hostile() -> Explained:
    """Every text that a model can hold is an attempt."""
    made = graph(
        node(f"/{HOSTILE}/{HOSTILE}a", HOSTILE, ("x",), f"{HOSTILE}t"),
        node(f"/{HOSTILE}/{HOSTILE}b", HOSTILE, (f"{HOSTILE}t",), "y", HOSTILE),
    )
    return explained_of(made, made, model_name=HOSTILE)


def empty() -> Explained:
    nothing = Graph((), (), (), {}, {})
    return explained_of(nothing, nothing, model_name="nothing")


def pane(made: Graph, **told: GraphRow) -> Pane:
    """Rows by key of node; those that are not told have no more than their operator."""
    rows = {one.key: told.get(one.key, GraphRow(one.key, one.kind)) for one in made.nodes}
    return pane_of(made, rows, title="made")
