"""Small files whose graphs would take hours or all memory to walk, if each part were not walked once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import FunctionProto, GraphProto, NodeProto, helper, numpy_helper

from tests.core.models import tiny
from workbench.core.models import load
from workbench.core.models.graph_walk import GraphWalk, WalkedNode
from workbench.core.models.scope import GraphScope, carried
from workbench.core.models.uses import MOST_STEPS, uses

DEPTH = 28  # of bodies: protobuf reads little more
NODES = 1000


def relus(count: int, start: str = "x") -> list[NodeProto]:
    return [helper.make_node("Relu", [start], [f"{start}{n}"]) for n in range(count)]


def function(name: str, nodes: list[NodeProto]) -> FunctionProto:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    return helper.make_function("own", name, ["x"], ["y"], nodes, opsets)


def nested(depth: int, name: str) -> GraphProto:
    """An If in an If in an If, each beside nodes that read a tensor of the main graph."""
    nodes = relus(NODES // 10)
    if depth:
        inner = nested(depth - 1, name)
        nodes.append(helper.make_node("If", ["c"], [f"o{depth}"], name, then_branch=inner))
    return helper.make_graph(nodes, "body", [], [])


def test_a_function_is_walked_once_however_often_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [helper.make_node("F", ["x"], [f"y{n}"], f"n{n}", domain="own") for n in range(NODES)]
    proto = tiny.model([*calls, *relus(1)], [tiny.tensor("x", [4])], [tiny.tensor("x0", [4])])
    proto.functions.append(function("F", [*relus(NODES), *calls[:2]]))
    walks: list[object] = []

    def walked(graph: GraphProto) -> GraphWalk:
        walks.append(graph.name)
        return GraphWalk(graph)

    monkeypatch.setattr("workbench.core.models.scope.GraphWalk", walked)
    assert load(proto).inputs().shapes == (("x", "float32[4]"),)
    assert len(walks) == 2


def test_the_steps_of_all_inputs_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def counted(node: WalkedNode, position: int) -> Iterator[str]:
        steps.append(position)
        return carried(node, position)

    monkeypatch.setattr("workbench.core.models.uses.carried", counted)
    names = [f"x{n}" for n in range(4 * NODES)]
    copies = [helper.make_node("Identity", ["all"], [f"y{n}"], f"n{n}") for n in range(4 * NODES)]
    nodes = [helper.make_node("Concat", names, ["all"], "all", axis=0), *copies]
    model = load(tiny.model(nodes, [tiny.tensor(name, [1]) for name in names], [tiny.tensor("all", None)]))
    assert len(model.inputs().shapes) == len(names)
    assert len(names) < len(steps) <= MOST_STEPS


def test_a_value_that_is_compared_with_one_table_often_is_told_once() -> None:
    nodes = [helper.make_node("Equal", ["x", "k"], [f"e{n}"], f"n{n}") for n in range(NODES)]
    proto = tiny.model(nodes, [tiny.tensor("x", [2], 7)], [tiny.tensor("e0", [2], 9)])
    proto.graph.initializer.append(numpy_helper.from_array(np.arange(2), "k"))
    assert uses(GraphScope(proto), "x").compared == (0, 1)
    assert "drawn from 0 to 1, the values that they are compared with" in str(load(proto).inputs().guesses)


def test_bodies_that_read_the_main_graph_pass_each_name_on_once() -> None:
    nodes = [helper.make_node("If", ["c"], ["y"], "if", then_branch=nested(DEPTH, "if"))]
    walk = GraphWalk(helper.make_graph(nodes, "main", [tiny.tensor("c", [], 9), tiny.tensor("x", [4])], []))
    assert walk.nodes[-1].reads == ("c", "x")
    assert max(len(node.captured) for node in walk.nodes) < NODES


def test_the_names_of_bodies_stay_short_however_deep_they_are() -> None:
    name = "n" * 10_000
    nodes = [helper.make_node("If", ["c"], ["y"], name, then_branch=nested(DEPTH, name))]
    walk = GraphWalk(helper.make_graph(nodes, "main", [tiny.tensor("c", [], 9), tiny.tensor("x", [4])], []))
    assert max(len(node.scope) for node in walk.nodes) < 2000
    assert len({node.scope for node in walk.nodes}) == DEPTH + 2
    assert walk.nodes[-1].reads == ("c", "x")


def test_names_outside_are_not_copied_for_each_body() -> None:
    empty = helper.make_graph([], "body", [], [])
    branch = helper.make_node("If", ["c"], ["y"], "if", then_branch=empty, else_branch=empty)
    graph = helper.make_graph([branch] * 30 * NODES, "main", [tiny.tensor("c", [], 9)], [])
    for place, node in enumerate(graph.node):
        node.output[0] = f"y{place}"
    assert len(GraphWalk(graph).nodes) == 30 * NODES
