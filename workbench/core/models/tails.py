"""The tail of an output: the nodes that join and move values on the last way to it, and change none."""

from __future__ import annotations

from onnx import ModelProto

from workbench.core.models.naming import name_nodes

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
          Concat ── Transpose ── output      tail: Concat, Transpose
    score ┘
    """
    named = ModelProto()
    named.CopyFrom(structure)
    name_nodes(named)
    makers = {made: node for node in named.graph.node for made in node.output}
    tail: dict[str, str] = {}  # type by name
    waiting = [output]
    while waiting:
        node = makers.get(waiting.pop(0))
        if node is None or node.name in tail or node.op_type not in (JOINS, *MOVES):
            continue
        tail[node.name] = node.op_type
        waiting += node.input if node.op_type == JOINS else node.input[:1]
    joins = [name for name, kind in tail.items() if kind == JOINS]
    if not joins:
        return ()
    return (joins[0], *(name for name in tail if name != joins[0]))
