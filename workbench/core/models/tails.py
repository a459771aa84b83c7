"""The tail of an output: the nodes that join values and compute on them one by one on the last way to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.models.naming import named_copy
from workbench.core.rewrites.graphs import bodies

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

JOINS = "Concat"
MOVES = frozenset(
    (
        "Identity",
        "Cast",
        "Reshape",
        "Flatten",
        "Squeeze",
        "Unsqueeze",
        "Transpose",
        "Split",
        "Slice",
        "Gather",
    )
)
_ALL_INPUTS = frozenset((JOINS, "Add", "Sub", "Mul", "Div", "Pow", "Max", "Min", "Sum", "Mean", "Where"))
# A tail starts behind operators that mix the channels of their input, and holds no computation of sizes.
_BEFORE = frozenset(
    (
        *("Shape", "Size"),
        *("Conv", "ConvTranspose", "ConvInteger", "QLinearConv", "FusedConv"),
        *("MatMul", "MatMulInteger", "QLinearMatMul", "MatMulNBits", "Gemm", "FusedMatMul", "Einsum"),
        *("LSTM", "GRU", "RNN", "Attention", "MultiHeadAttention", "GroupQueryAttention"),
    )
)

PROBABILITIES = frozenset(("Sigmoid", "Softmax"))


def are_probabilities(structure: ModelProto, output: str) -> bool:
    """Return whether the values of an output come from a Sigmoid or Softmax, and were only moved since."""
    makers = {made: node for node in structure.graph.node for made in node.output}
    node = makers.get(output)
    while node is not None and node.op_type in MOVES and node.op_type != "Cast" and node.input:
        node = makers.get(node.input[0])
    return node is not None and node.op_type in PROBABILITIES


def tail_of(structure: ModelProto, output: str) -> tuple[str, ...]:
    """Return the names of the nodes from the joins to an output, the last join first; none without a join.

    box ──┐
          Concat ── Mul ── Transpose ── output      tail: Concat, Mul, Transpose
    score ┘          │
    sizes ── Floor ──┘                              Floor is not behind a join
    """
    named = named_copy(structure)
    makers = {made: node for node in named.graph.node for made in node.output}
    reached: dict[str, NodeProto] = {}  # by name, the nearest to the output first
    waiting = [output]
    for value in waiting:
        node = makers.get(value)
        if node is None or node.name in reached or node.op_type in _BEFORE or any(bodies(node)):
            continue
        reached[node.name] = node
        waiting += node.input if node.op_type in _ALL_INPUTS else node.input[:1]
    behind: dict[str, None] = {}  # in the order of the graph
    values: set[str] = set()
    for node in named.graph.node:
        if node.name in reached and (node.op_type == JOINS or values.intersection(node.input)):
            behind[node.name] = None
            values.update(node.output)
    joins = [name for name in reached if name in behind and reached[name].op_type == JOINS]
    if not joins:
        return ()
    return (joins[0], *(name for name in reached if name in behind and name != joins[0]))
