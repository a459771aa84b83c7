"""A few nodes before and after ORT's passes."""

from __future__ import annotations

from tests.drawing.canvas.test_graph_view import explained_of
from tests.factories.graphs import fused, graph, node
from workbench.features.explain.graph_view.view import matched_view


def test_the_nodes_of_a_fusion_stand_beside_what_they_became() -> None:
    view = matched_view(fused(), ("/a/MatMul", "/a/Add"))
    assert view is not None
    before, after = view.panes
    assert [row.node for row in before.rows] == ["/a/MatMul", "/a/Add"]
    assert [row.node for row in after.rows] == ["/a/Gemm"]
    assert view.links == ((0, 0), (1, 0))
    assert [(wire.source, wire.target) for wire in before.wires] == [(0, 1)]


def test_what_stands_between_the_nodes_belongs_to_them() -> None:
    made = graph(
        node("a", "MatMul", ("x",), "1"), node("b", "Mul", ("1",), "2"), node("c", "Add", ("2",), "y")
    )
    view = matched_view(explained_of(made, made), ("a", "c"))
    assert view is not None
    assert [row.node for row in view.panes[0].rows] == ["a", "b", "c"]


def test_nodes_of_another_graph_give_nothing() -> None:
    assert matched_view(fused(), ("/prepared/only",)) is None
