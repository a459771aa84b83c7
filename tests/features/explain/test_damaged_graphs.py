"""Graphs that no exporter writes, as a file of anybody may hold them: each question about them ends."""

from __future__ import annotations

from dataclasses import replace

from tests.features.explain.graphs import node
from workbench.core.models.graph import Graph, Node
from workbench.features.explain.graph_view.scopes import paths_of
from workbench.features.explain.passes.missed import attention
from workbench.features.explain.passes.patterns import ATTENTION, occurrences
from workbench.features.explain.provenance.step import trace_step

READ_TIMES = 500  # of one tensor by one node: ways to the fourth node before are the fourth power of it


def graph(*nodes: Node) -> Graph:
    return Graph(nodes, ("x",), (nodes[-1].outputs[0],), {}, {})


def test_a_node_that_reads_one_tensor_many_times_is_looked_at_once() -> None:
    sums = [node(f"sum{n}", "Sum", (f"s{n}",) * READ_TIMES, f"s{n + 1}") for n in range(4)]
    product, softmax = node("product", "MatMul", ("x", "x"), "s0"), node("softmax", "Softmax", ("s4",), "s")
    whole = graph(product, *sums, softmax, node("after", "MatMul", ("s", "x"), "y"))
    (place,) = [place for place in occurrences(whole) if place.pattern == ATTENTION]
    assert place.nodes == ("product", "softmax", "after")
    assert "stands Sum, then Sum, then Sum, then Sum," in (attention(whole, place.nodes) or "")


def test_nodes_that_did_nothing_may_stand_in_a_circle() -> None:
    before = graph(
        node("relu", "Relu", ("x",), "a"), node("one", "Identity", ("q",), "y"),
        node("two", "Identity", ("y",), "q"), node("last", "Abs", ("y",), "z"),
    )  # fmt: skip
    after = graph(node("relu", "Relu", ("x",), "y"), node("last", "Abs", ("y",), "z"))
    assert trace_step(before, after).lost == {"one": "eliminated", "two": "eliminated"}


def test_inserted_casts_may_stand_in_a_circle() -> None:
    before = graph(node("relu", "Relu", ("x",), "a"), node("last", "Abs", ("a",), "y"))
    after = graph(
        node("one", "Cast", ("q",), "p"), node("two", "Cast", ("p",), "q"), node("last", "Abs", ("p",), "y")
    )
    assert trace_step(before, after).removed == ("relu",)


def test_a_node_may_stand_in_its_own_body() -> None:
    own = replace(node("loop", "Loop", ("x",), "y"), scope="loop/body")
    assert paths_of(graph(own)) == {"loop": ("loop/body", "loop body")}
