"""The mean run as one tree: module → node → operator, or operator → node, the widest box at the left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from math import nan
from typing import Literal

import numpy as np

from workbench.features.profile.flame.frames import NO_FRAME, Boxes, FrameKind, Frames
from workbench.features.profile.session_profile import SessionProfile
from workbench.features.profile.tables import BETWEEN_NODES, FENCES, SCHEDULING
from workbench.features.profile.trace import EventKind as Event
from workbench.features.profile.trace import node_name
from workbench.features.profile.tree import NO_PARENT

Order = Literal["module", "operator"]
NOT_TOLD = "(not told)"
MOST_MODULES = 24  # one in another: names are anybody's
DEEPEST_BOX = 100  # of the tree: what a stranger's trace nests deeper counts for the box above it


@dataclass(slots=True)
class Branch:
    """A box before its layout; times are sums over the steady runs, at the scale of the latency."""

    name: str
    kind: FrameKind
    op: str | None = None
    provider: str | None = None
    depth: int = 0
    own_s: float = 0.0
    calls: int = 0
    children: dict[tuple[str, FrameKind], Branch] = field(default_factory=dict)

    def child(self, name: str, kind: FrameKind, op: str | None = None, provider: str | None = None) -> Branch:
        """Return the box of that name below this one; make it if it is new."""
        branch = self.children.get((name, kind))
        if branch is None:
            branch = self.children[(name, kind)] = Branch(name, kind, op, provider, self.depth + 1)
        return branch

    @property
    def total_s(self) -> float:
        return self.own_s + sum(child.total_s for child in self.children.values())


Ranks = Mapping[tuple[str, ...], float]  # the time of each box in all trees together, by its path


def merged(
    profiles: Sequence[SessionProfile], order: Order, changes_s: Iterable[Mapping[str, float]] = ()
) -> list[Frames]:
    """Return the mean of the steady runs of each profile; its parts add up to it.

    Boxes stand in the same order in all of them. `changes_s` are the gains by node, of each profile.
    """
    wholes = [grow(profile, order) for profile in profiles]
    ranks = _ranked(wholes)
    return [
        lay_out(whole, 1 / profile.steady.runs if profile.steady.runs else 0.0, change_s or {}, ranks)
        for profile, whole, change_s in zip_longest(profiles, wholes, changes_s)
    ]


def _ranked(wholes: Iterable[Branch]) -> Ranks:
    totals_s: dict[tuple[str, ...], float] = {}
    for whole in wholes:
        stack: list[tuple[tuple[str, ...], Branch]] = [((whole.name,), whole)]
        while stack:
            path, branch = stack.pop()
            totals_s[path] = totals_s.get(path, 0.0) + branch.total_s / (whole.calls or 1)
            stack += [((*path, child.name), child) for child in branch.children.values()]
    return totals_s


def devices(profile: SessionProfile, order: Order) -> Frames | None:
    """Return the tree of a device's kernels, whose time runs beside the nodes', or None without kernels."""
    tree, trace, chosen = profile.tree, profile.trace, profile.steady.chosen
    kernels = np.flatnonzero((tree.kind == Event.KERNEL) & ~np.isnan(trace.duration_us))
    whole, finder = Branch("kernels of the device", FrameKind.WHOLE), _Finder(profile, order)
    for event in kernels.tolist():
        owner = int(tree.parent[event])
        if owner == NO_PARENT or int(tree.run[owner]) not in chosen:
            continue
        known = tree.kind[owner] == Event.NODE
        box = finder.node(whole, owner) if known else whole.child(NOT_TOLD, FrameKind.OTHER)
        box = box.child(trace.name_of(event), FrameKind.KERNEL, box.op, box.provider)
        box.own_s += float(trace.duration_us[event]) / 1e6 * profile.steady.scale
        box.calls += 1
    return lay_out(whole, 1 / len(chosen), {}, {}) if whole.children else None


def grow(profile: SessionProfile, order: Order) -> Branch:
    """Return the tree of the steady runs before its layout."""
    tree = profile.tree
    whole, finder = Branch("run", FrameKind.WHOLE), _Finder(profile, order)
    places: dict[int, Branch] = {}
    own_us = tree.self_us
    for event in profile.steady.events.tolist():
        waiting, at = [], event
        while at not in places and at != NO_PARENT:
            waiting.append(at)
            at = int(tree.parent[at])
        place = whole if at == NO_PARENT else places[at]
        for span in reversed(waiting):
            place = places[span] = finder.place(place, span)
        spent_s = float(own_us[event]) / 1e6 * profile.steady.scale
        kind = Event(tree.kind[event])
        if kind == Event.RUN:
            place.calls += 1
            place = place.child(SCHEDULING, FrameKind.GAP)
        elif kind == Event.EXECUTOR:
            place = place.child(BETWEEN_NODES, FrameKind.GAP)
        elif kind == Event.NODE:
            place.calls += 1
        place.own_s += spent_s
    return whole


class _Finder:
    """Find the box of an event below the box of its parent."""

    def __init__(self, profile: SessionProfile, order: Order) -> None:
        self._profile = profile
        self._by_module = order == "module"
        self._scope = profile.measured.scope

    def place(self, above: Branch, event: int) -> Branch:
        kind = Event(self._profile.tree.kind[event])
        if kind in (Event.RUN, Event.EXECUTOR) or above.depth >= DEEPEST_BOX:
            return above
        if kind == Event.NODE:
            return self.node(above, event)
        if kind == Event.FENCE:
            return above.child(FENCES, FrameKind.GAP)
        return above.child(self._profile.trace.name_of(event), FrameKind.OTHER)

    def node(self, above: Branch, event: int) -> Branch:
        """Return the innermost box: the operator's by module, the node's by operator."""
        trace = self._profile.trace
        call = trace.call_of(event)
        op, provider = (None, None) if call is None else (call.op_type, call.provider)
        name = node_name(trace.name_of(event))
        if not self._by_module:
            kind = above.child(op or NOT_TOLD, FrameKind.OPERATOR, op, provider)
            return kind.child(name, FrameKind.NODE, op, provider)
        inside = above.kind == FrameKind.WHOLE
        parts = list(filter(None, self._scope(name).split("/"))) if inside else []
        for part in parts[:MOST_MODULES]:
            above = above.child(part, FrameKind.MODULE)
        node = above.child(name, FrameKind.NODE, op, provider)
        return node.child(op or NOT_TOLD, FrameKind.OPERATOR, op, provider)


def lay_out(whole: Branch, scale: float, change_s: Mapping[str, float], ranks: Ranks) -> Frames:
    """Lay boxes side by side, the widest first, gaps last; a module with one module inside is one box."""
    boxes = Boxes()
    stack: list[tuple[Branch, tuple[str, ...], int, int, float, float]] = []
    stack.append((whole, (whole.name,), NO_FRAME, 0, 0.0, whole.total_s))
    while stack:
        branch, path, parent, depth, start_s, total_s = stack.pop()
        name = branch.name
        while branch.kind == FrameKind.MODULE and len(branch.children) == 1:
            (only,) = branch.children.values()
            if only.kind != FrameKind.MODULE:
                break
            name, branch, path = f"{name}/{only.name}", only, (*path, only.name)
        calls = branch.calls * scale if branch.calls else _calls(branch) * scale
        row = boxes.add(
            name, branch.kind, start_s * scale, total_s * scale, parent=parent, depth=depth, op=branch.op,
            provider=branch.provider, own_s=branch.own_s * scale, calls=calls or nan,
            change_s=change_s.get(name, nan) if branch.kind == FrameKind.NODE else nan,
        )  # fmt: skip
        below = []
        for child in branch.children.values():
            inner, child_s = (*path, child.name), child.total_s
            below.append(
                ((child.kind == FrameKind.GAP, -ranks.get(inner, child_s), -child_s), child, inner, child_s)
            )
        below.sort(key=lambda entry: entry[0])
        at, placed = start_s, []
        for _, child, inner, child_s in below:
            placed.append((child, inner, row, depth + 1, at, child_s))
            at += child_s
        stack += reversed(placed)
    return boxes.frames()


def _calls(branch: Branch) -> int:
    """Return the calls of the nodes directly below a box that is no node."""
    if branch.kind == FrameKind.NODE:
        return sum(child.calls for child in branch.children.values() if child.kind == FrameKind.OPERATOR)
    return sum(
        child.calls or _calls(child) for child in branch.children.values() if child.kind != FrameKind.GAP
    )
