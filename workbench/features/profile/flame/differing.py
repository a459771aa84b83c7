"""The difference of two profiles as boxes: gains, losses, and below them their nodes and reasons."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import fsum
from typing import TypeVar

from workbench.core.text import in_time
from workbench.features.profile.difference.changes import CHANGE_KINDS, ChangeKind, Difference, NodeChange
from workbench.features.profile.flame.frames import Boxes, FrameKind, Frames

_TITLES: dict[ChangeKind, str] = {
    "replaced": "replaced nodes",
    "same": "the same nodes",
    "module": "by module name",
    "inserted": "inserted nodes",
    "only in A": "only in A",
    "only in B": "only in B",
    "gap": "gaps",
}

Key = TypeVar("Key", bound=str)


def differing(difference: Difference) -> Frames:
    """Lay gains to the left and losses to the right; a box is as wide as its part of the difference."""
    boxes = Boxes()
    gains = [row for row in difference.rows if row.difference_s < 0]
    losses = [row for row in difference.rows if row.difference_s > 0]
    gained_s, lost_s = difference.gained_s, difference.lost_s
    if gains:
        row = boxes.add(f"gained {in_time(gained_s)}", FrameKind.GAIN, 0.0, gained_s, change_s=-gained_s)
        _below(boxes, gains, row, 0.0, FrameKind.GAIN)
    if losses:
        row = boxes.add(f"lost {in_time(lost_s)}", FrameKind.LOSS, gained_s, lost_s, change_s=lost_s)
        _below(boxes, losses, row, gained_s, FrameKind.LOSS)
    return boxes.frames()


def change_by_node(difference: Difference) -> tuple[dict[str, float], dict[str, float]]:
    """Return for A's and for B's nodes what the group of the node gained or lost."""
    of_a = {name: row.difference_s for row in difference.rows for name in row.a_nodes}
    of_b = {name: row.difference_s for row in difference.rows for name in row.b_nodes}
    return of_a, of_b


def _below(boxes: Boxes, rows: list[NodeChange], parent: int, at_s: float, kind: FrameKind) -> None:
    """Add boxes by reason, then by operators, then the single groups, the largest first."""
    reasons = {kind: [row for row in rows if row.kind == kind] for kind in CHANGE_KINDS}
    for reason, of_reason, start_s in _side_by_side(reasons, at_s):
        if of_reason:
            shown = FrameKind.GAP if reason == "gap" else kind
            top = _add(boxes, _TITLES[reason], shown, of_reason, start_s, parent, 1)
            _groups(boxes, of_reason, top, start_s, shown)


def _groups(boxes: Boxes, rows: list[NodeChange], parent: int, at_s: float, kind: FrameKind) -> None:
    alike: dict[str, list[NodeChange]] = {}
    for row in rows:
        alike.setdefault(row.label, []).append(row)
    for label, group, start_s in _side_by_side(alike, at_s):
        title = label if len(group) == 1 else f"{label}, {len(group):,} times"
        op = (group[0].b_ops or group[0].a_ops or (None,))[0] if kind != FrameKind.GAP else None
        top = _add(boxes, title, kind, group, start_s, parent, 2, op)
        for row in sorted(group, key=_magnitude) if kind != FrameKind.GAP else ():
            name = next(iter(row.b_nodes or row.a_nodes), label)
            _add(boxes, name, kind, [row], start_s, top, 3, op)
            start_s += abs(row.difference_s)


def _add(
    boxes: Boxes, title: str, kind: FrameKind, rows: Sequence[NodeChange], start_s: float, parent: int,
    depth: int, op: str | None = None,
) -> int:  # fmt: skip
    """Add the box of these rows, as wide as their differences; return its number."""
    members = [name for row in rows for name in (*row.a_nodes, *row.b_nodes)]
    return boxes.add(
        title, kind, start_s, _size(rows), parent=parent, depth=depth, op=op,
        change_s=fsum(row.difference_s for row in rows), members=members,
    )  # fmt: skip


def _side_by_side(
    groups: Mapping[Key, list[NodeChange]], at_s: float
) -> Iterator[tuple[Key, list[NodeChange], float]]:
    """Yield each group with its start, the largest first."""
    for key, rows in sorted(groups.items(), key=lambda pair: -_size(pair[1])):
        yield key, rows, at_s
        at_s += _size(rows)


def _magnitude(row: NodeChange) -> float:
    return -abs(row.difference_s)


def _size(rows: Iterable[NodeChange]) -> float:
    return fsum(abs(row.difference_s) for row in rows)
