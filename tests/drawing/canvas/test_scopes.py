"""Where a node belongs: from its metadata, its name, its neighbours, or the node whose body it is in."""

from __future__ import annotations

import pytest

from workbench.core.models.graph import Graph, Node
from workbench.features.explain.graph_view.scopes import common_path, leaf, module_path, paths_of


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("/encoder/layer.0/attention/MatMul", ("encoder", "layer.0", "attention")),
        ("encoder/layer.0/MatMul", ("encoder", "layer.0")),
        ("fused /model/pooler/dense/Gemm", ("model", "pooler", "dense")),
        ("/model/self/MatMul/MatMulScaleFusion/", ("model", "self", "MatMul")),
        ("encoder.layer.0.dense", ("encoder", "layer.0")),
        ("/Relu", ()),
        ("//", ()),
        ("Relu_12", None),
        ("", None),
    ],
)
def test_a_name_tells_its_modules(name: str, path: tuple[str, ...] | None) -> None:
    assert module_path(name) == path


def test_a_name_of_a_thousand_slashes_has_bounded_depth() -> None:
    path = module_path("/" + "a/" * 5000 + "Relu")
    assert path is not None
    assert len(path) == 24


def test_common_path() -> None:
    assert common_path([("a", "b", "c"), ("a", "b"), ("a", "b", "d")]) == ("a", "b")
    assert common_path([("a",), ("b",)]) == ()
    assert common_path([]) == ()


def node(name: str, inputs: tuple[str, ...], output: str, *, scope: str = "", module: str = "") -> Node:
    key = f"{scope}::{name}" if scope else name
    return Node(key, name, scope, "Relu", "", inputs, (output,), inputs, "", module)


def graph(*nodes: Node) -> Graph:
    return Graph(nodes, ("x",), (nodes[-1].outputs[0],), {}, {})


def test_metadata_comes_before_names_and_names_before_neighbours() -> None:
    made = graph(
        node("node_relu", ("x",), "a", module="encoder.layer.3"),
        node("Constant_7", (), "c"),
        node("/head/Add", ("a", "c"), "b"),
        node("Relu_9", ("b",), "y"),
    )
    assert list(paths_of(made).values()) == [("encoder", "layer.3"), ("head",), ("head",), ("head",)]


def test_a_node_belongs_to_the_weight_that_it_reads_rather_than_to_what_came_before() -> None:
    made = graph(
        node("C_0", (), "fire2/w"),
        node("C_1", (), "fire3/w"),
        node("Conv_0", ("x", "fire2/w"), "a"),
        node("Relu_0", ("a",), "b"),
        node("Conv_1", ("b", "fire3/w"), "c"),
        node("Relu_1", ("c",), "y"),
    )
    assert [path[0] for path in paths_of(made).values()] == [
        "fire2",
        "fire3",
        "fire2",
        "fire2",
        "fire3",
        "fire3",
    ]


def test_known_paths_come_first() -> None:
    made = graph(node("reorder", ("x",), "a"), node("/head/Add", ("a",), "b"))
    assert list(paths_of(made, {"/head/Add": ("tail",)}).values()) == [("tail",), ("tail",)]


def test_a_body_stands_in_a_box_beside_its_node() -> None:
    made = graph(
        node("inner", ("x",), "i", scope="/head/If/then_branch"),
        node("deep", ("x",), "d", scope="/head/If/then_branch::inner/body"),
        node("/head/If", ("x",), "y"),
    )
    assert list(paths_of(made).values()) == [
        ("head", "If then_branch"),
        ("head", "If then_branch", "inner body"),
        ("head",),
    ]


def test_the_last_part() -> None:
    assert [leaf(name) for name in ("/a/b", "/a/b/", "a", "", "//")] == ["b", "b", "a", "", "//"]
