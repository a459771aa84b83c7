"""The pictures of one profile or two, as frozen data, and the sentence about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TypeVar

from workbench.core.text import in_time
from workbench.features.profile.difference.changes import CHANGE_KINDS, ChangeKind, Difference, NodeChange
from workbench.features.profile.flame.frames import Boxes, FlamePane, FrameKind, Frames, Picture
from workbench.features.profile.flame.merged import Order, devices, merged
from workbench.features.profile.flame.timeline import MOST_SPANS, timeline
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import BETWEEN_NODES, SCHEDULING, group_table

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


PROFILED = "with the profiler on, so longer than in the other pictures"
SHARES = "shares of the profiled runs; the profiler costs a small node relatively more than a large one"
DIFFERING = "Left, less time in B; right, more. Below: why, what became what, and the single nodes."
_MOST_OPS = 3  # in the sentence


@dataclass(frozen=True, slots=True, eq=False)
class ProfiledRun:
    """A profile and its label."""

    label: str
    profile: SessionProfile


def pictures(shown: Sequence[ProfiledRun], difference: Difference | None) -> tuple[Picture, ...]:
    """Return the pictures by module, by operator and in time; of two runs the difference is first."""
    drawn = [
        _merged("module", "By module", shown, difference),
        _merged("operator", "By operator", shown, difference),
        _in_time(shown),
    ]
    if difference is not None:
        drawn.insert(0, _difference(shown, difference))
    return tuple(drawn)


def sentence(shown: Sequence[ProfiledRun], difference: Difference | None) -> str:
    """Return the sentence of the difference, or of where most of the time goes."""
    if difference is not None:
        return f"{difference}."
    return ". ".join(_of(run) for run in shown) + "."


def heading(shown: Sequence[ProfiledRun], difference: Difference | None) -> tuple[str, str]:
    """Return a short title, and the line below it: what a difference consists of, or the whole sentence."""
    whole = sentence(shown, difference)
    title, colon, parts = whole.partition("): ")
    if difference is not None:
        return (f"{title})", parts) if colon else (whole, "")
    if not all(run.profile.steady.runs for run in shown):
        return whole, ""
    return ", ".join(f"{run.label} {in_time(run.profile.run_s)}" for run in shown), whole


def _merged(order: Order, title: str, shown: Sequence[ProfiledRun], difference: Difference | None) -> Picture:
    panes = []
    for run, pane in zip(shown, _means(order, shown, difference), strict=True):
        panes.append(pane)
        kernels = devices(run.profile, order)
        if kernels is not None:
            panes.append(
                FlamePane(f"{run.label}, device", "kernels, beside the nodes that launched them", kernels)
            )
    return Picture(order, title, f"The mean run: {SHARES}. The widest stand left.", tuple(panes))


def _means(order: Order, shown: Sequence[ProfiledRun], difference: Difference | None) -> list[FlamePane]:
    """Return the mean run of each profile; boxes stand in the same order in all of them."""
    changes = () if difference is None else change_by_node(difference)
    drawn = merged([run.profile for run in shown], order, changes)
    return [
        FlamePane(run.label, _runs(run.profile), frames) for run, frames in zip(shown, drawn, strict=True)
    ]


def _in_time(shown: Sequence[ProfiledRun]) -> Picture:
    panes: list[FlamePane] = []
    views = []
    for run in shown:
        lanes, view_s = timeline(run.profile, run.label, MOST_SPANS // max(1, len(shown)))
        panes += lanes
        views.append(view_s)
    view = (min(low for low, _ in views), max(high for _, high in views)) if views else None
    return Picture(
        "time", "In time", f"One run as it happened, {PROFILED}. Zoom out for the others.", tuple(panes), view
    )


def _difference(shown: Sequence[ProfiledRun], difference: Difference) -> Picture:
    pane = FlamePane(
        "Difference", "each node of B against the nodes of A that it replaced", differing(difference)
    )
    return Picture("difference", "Difference", DIFFERING, (*_means("operator", shown[:2], difference), pane))


def _runs(profile: SessionProfile) -> str:
    return f"of {profile.time_words}" if profile.steady.runs else "no run"


def _of(shown: ProfiledRun) -> str:
    steady = shown.profile.steady
    if not steady.runs:
        return f"{shown.label}: no run was completed in this trace"
    table = group_table(steady, "op_type")
    if not table["self_s"].sum():  # runs of no microsecond: nothing is a share of them
        return f"{shown.label}: {shown.profile.time_words}"
    gaps = table["op_type"].isin((BETWEEN_NODES, SCHEDULING))
    top = table[~gaps].head(_MOST_OPS)
    parts = [f"{op} {share * 100:.0f} %" for op, share in zip(top["op_type"], top["share"], strict=True)]
    parts.append(f"no node {float(table[gaps]['share'].sum()) * 100:.0f} %")
    return f"{shown.label}: {shown.profile.time_words}; {', '.join(parts)}"
