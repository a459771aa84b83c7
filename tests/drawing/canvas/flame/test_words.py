"""The sentence above the flame: the difference as a title, and below it what it consists of."""

from __future__ import annotations

from workbench.features.profile.difference.changes import ChangeKind, Difference, NodeChange
from workbench.features.profile.flame.frames import Boxes, FlamePane, FrameKind, Picture
from workbench.features.profile.flame.pictures import heading
from workbench.features.profile.flame.view import pane_title


def change(kind: ChangeKind, a_s: float, b_s: float) -> NodeChange:
    return NodeChange(kind, "", ("a",), ("b",), ("Conv",), ("Conv",), a_s, b_s)


def test_the_largest_parts_come_first_and_small_ones_are_left_out() -> None:
    rows = (change("same", 1e-3, 0.999e-3), change("replaced", 2e-3, 1.8e-3), change("gap", 1e-3, 0.5e-3))
    title, parts = heading((), Difference(rows, 4e-3, 3.299e-3))
    assert title == "A run of B takes 701 µs less than one of A (4 ms to 3.3 ms)"
    assert parts == "gaps \N{MINUS SIGN}500 µs, replaced nodes \N{MINUS SIGN}200 µs."


def test_equal_runs_say_that_nothing_stands_out() -> None:
    _, parts = heading((), Difference((change("same", 1e-3, 1e-3),), 1e-3, 1e-3))
    assert parts == "no kind of change makes 1 % of a run."


def test_small_parts_are_summed_up_where_the_sentence_would_not_add_up() -> None:
    small = [change(kind, 1e-3, 0.1e-3) for kind in ("gap", "inserted")]
    rows = (change("same", 50e-3, 52e-3), change("replaced", 50e-3, 48.5e-3), *small)
    _, parts = heading((), Difference(rows, 100e-3, 98.7e-3))
    minus = "\N{MINUS SIGN}"
    assert parts == f"the same nodes +2 ms, replaced nodes {minus}1.5 ms, the rest {minus}1.8 ms."


def test_a_still_picture_writes_times_as_the_view_does() -> None:
    boxes = Boxes()
    boxes.add("run", FrameKind.WHOLE, 0.0, 39.4e-6)
    pane = FlamePane("A", "of the measured median", boxes.frames())
    assert pane_title(pane, Picture("module", "", "", (pane,))) == "A: 39.4 µs, of the measured median"
