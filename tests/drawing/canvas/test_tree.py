"""Laws of the boxes: every node in exactly one, none with too many children, the order of the graph kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from workbench.features.explain.graph_view.tree import (
    MOST_CHILDREN,
    MOST_OPEN,
    ROOT,
    BoxTree,
    GraphBox,
    first_open,
    open_alike,
    tree_of,
)

PARTS = st.sampled_from(["a", "b", "c", "layer.0", "layer.1", ""])
PATHS = st.lists(st.lists(PARTS, max_size=4).map(tuple), max_size=120)
FLAT = st.integers(0, 20_000).map(lambda count: [()] * count)


@given(st.one_of(PATHS, FLAT))
def test_every_node_is_in_exactly_one_box(paths: list[tuple[str, ...]]) -> None:
    tree = tree_of(paths)
    children = tree.children()
    nodes = [number for rows in children for is_box, number in rows if not is_box]
    boxes = [number for rows in children for is_box, number in rows if is_box]
    assert sorted(nodes) == list(range(len(paths)))
    assert sorted(boxes) == list(range(1, len(tree.boxes)))
    assert all(box.parent < number for number, box in enumerate(tree.boxes) if number != ROOT)
    assert all(len(rows) <= MOST_CHILDREN for rows in children)
    assert len(tree.members()[ROOT]) == len(paths)
    assert all(tree.members()[1:])


@given(st.one_of(PATHS, FLAT))
def test_children_keep_the_order_of_the_graph(paths: list[tuple[str, ...]]) -> None:
    tree = tree_of(paths)
    first = [min(nodes, default=0) for nodes in tree.members()]
    for rows in tree.children():
        starts = [first[number] if is_box else number for is_box, number in rows]
        assert starts == sorted(starts)


@given(st.one_of(PATHS, FLAT))
def test_what_is_open_at_first_is_reachable_and_bounded(paths: list[tuple[str, ...]]) -> None:
    tree = tree_of(paths)
    opened = set(first_open(tree))
    children = tree.children()
    assert ROOT in opened
    assert all(tree.boxes[number].parent in opened for number in opened)
    shown = sum(len(children[number]) for number in opened) - (len(opened) - 1)
    assert shown <= MOST_OPEN


@given(PATHS, PATHS)
def test_the_same_box_is_open_on_both_sides_or_on_none(first: list, second: list) -> None:
    trees = [tree_of(first), tree_of(second)]
    opened = open_alike(trees)
    paths = [{tree.boxes[number].path for number in found} for tree, found in zip(trees, opened, strict=True)]
    known = [{box.path for box in tree.boxes} for tree in trees]
    assert all(path in paths[1] for path in paths[0] & known[1] if path)


def test_modules_become_boxes_and_a_box_of_one_is_its_content() -> None:
    paths = [("model", "embed"), ("model", "embed"), ("model", "dense", "inner"), ("model", "dense", "inner")]
    tree = tree_of([*paths, ("model", "norm")])
    assert tree == BoxTree(
        (
            GraphBox("model", "model", 0),
            GraphBox("dense/inner", "model/dense/inner", 0),
            GraphBox("embed", "model/embed", 0),
        ),
        (2, 2, 1, 1, 0),
    )


def test_many_loose_nodes_beside_boxes_are_told_by_what_they_are() -> None:
    paths = [("block",), ("block",), *[()] * 5]
    tree = tree_of(paths, ["Add", "Add", "Shape", "Gather", "Gather", "Cast", "Gather"])
    assert [box.label for box in tree.boxes] == ["", "Gather, Shape, …", "block"]


def test_what_is_to_stand_alone_is_in_no_such_box() -> None:
    tree = tree_of([(), ("block",), ("block",), *[()] * 5], ["input", *["Add"] * 7], alone={0})
    assert tree.home[0] == ROOT


def test_nothing_is_a_tree_too() -> None:
    tree = tree_of([])
    assert tree.boxes == (GraphBox("", "", 0),)
    assert first_open(tree) == (ROOT,)
