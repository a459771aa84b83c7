"""The graph view without a browser: the outermost boxes in their order, and tensors between providers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

from workbench.core.text import in_time
from workbench.drawing.palette import PURPLE, TEXT, FillStyle, style_of_provider
from workbench.drawing.scene import Scene
from workbench.drawing.shapes import Line, Polyline, Rect, Shape, TextLine, column
from workbench.drawing.words import lines
from workbench.features.explain.graph_view.pane import Pane, short_provider
from workbench.features.explain.graph_view.payload import FATES, PLAIN
from workbench.features.explain.graph_view.tree import ROOT, BoxTree

MOST_BOXES = 14
WIDTH, BOX, GAP, MARGIN, ARCS = 380.0, 34.0, 22.0, 16.0, 46.0
_STRIP = 6.0
_LINE = 18.0
TITLE_COLUMNS = 118


@dataclass(frozen=True, slots=True)
class Outer:
    """One outermost box: its label, its nodes, the share of each style, and its time where known."""

    label: str
    nodes: int
    shares: tuple[tuple[str, int], ...]  # provider or fate → nodes
    time_s: float | None


@dataclass(frozen=True, slots=True)
class Tie:
    """Tensors from one box to another."""

    source: int
    target: int
    tensors: int
    crossing: int
    crossing_bytes: int | None  # None: the size of one of them is not known


@dataclass(frozen=True, slots=True)
class Outline:
    """A graph as its outermost boxes."""

    title: str
    by: str  # "provider" or "fate"
    boxes: tuple[Outer, ...]
    ties: tuple[Tie, ...]
    left_out: int


def outline_of(pane: Pane) -> Outline:
    """Return the boxes of partitions if there are several, else of modules; open the largest."""
    tree = pane.partitions or pane.modules
    by = "provider" if any(row.provider for row in pane.rows) else "fate"
    if any(row.fate in ("folded", "eliminated") for row in pane.rows):
        by = "fate"
    members, labels = _outermost(tree, pane)
    shown = members[:MOST_BOXES]
    home = {node: number for number, nodes in enumerate(shown) for node in nodes}
    boxes = []
    for label, nodes in zip(labels, shown, strict=False):
        rows = [pane.rows[node] for node in nodes]
        times = [row.time_s for row in rows if row.time_s is not None]
        shares = Counter(
            short_provider(row.provider) if by == "provider" else row.fate or "unknown"
            for row in rows
            if row.kind == "node"
        )
        count = sum(row.kind == "node" for row in rows)
        boxes.append(Outer(label, count, tuple(shares.most_common()), sum(times) if times else None))
    return Outline(pane.title, by, tuple(boxes), _ties(pane, home), len(members) - len(shown))


def _outermost(tree: BoxTree, pane: Pane) -> tuple[list[list[int]], list[str]]:
    children = tree.children()
    inside = tree.members()
    frontier = list(children[ROOT])
    depths = _depths(pane)
    while True:
        big = [entry for entry in frontier if entry[0] and len(inside[entry[1]]) * 2 > len(tree.home)]
        if not big or len(frontier) + len(children[big[0][1]]) - 1 > MOST_BOXES:
            break
        at = frontier.index(big[0])
        frontier[at : at + 1] = children[big[0][1]]
    frontier.sort(
        key=lambda entry: mean(depths[node] for node in (inside[entry[1]] if entry[0] else [entry[1]]))
    )
    members = [inside[number] if is_box else [number] for is_box, number in frontier]
    labels = [
        tree.boxes[number].label if is_box else f"{pane.rows[number].op_type} {pane.rows[number].node}"
        for is_box, number in frontier
    ]
    return members, labels


def _depths(pane: Pane) -> list[int]:
    """Return the longest path to each node, since ORT's own order may put late boxes first."""
    depths = [0] * len(pane.rows)
    into: list[list[int]] = [[] for _ in pane.rows]
    for wire in pane.wires:
        if wire.source < wire.target:
            into[wire.target].append(wire.source)
    for node, makers in enumerate(into):
        if makers:
            depths[node] = 1 + max(depths[maker] for maker in makers)
    return depths


def _ties(pane: Pane, home: dict[int, int]) -> tuple[Tie, ...]:
    tensors: dict[tuple[int, int], set[str]] = defaultdict(set)
    crossing: dict[tuple[int, int], dict[str, int | None]] = defaultdict(dict)
    for wire in pane.wires:
        ends = home.get(wire.source), home.get(wire.target)
        if ends[0] is None or ends[1] is None or ends[0] == ends[1] or (wire.hub and not wire.crosses):
            continue
        tensors[ends[0], ends[1]].add(wire.tensor)
        if wire.crosses:
            crossing[ends[0], ends[1]][wire.tensor] = wire.size_bytes
    ties = []
    for key, names in sorted(tensors.items()):
        sizes = list(crossing[key].values()) if key in crossing else []
        known = [size for size in sizes if size is not None]
        ties.append(Tie(*key, len(names), len(sizes), sum(known) if len(known) == len(sizes) else None))
    return tuple(ties)


def graph_scene(panes: Sequence[Pane], title: str) -> Scene:
    """Draw the panes side by side, below one sentence."""
    outlines = [outline_of(pane) for pane in panes]
    width = max(620.0, len(outlines) * (WIDTH + ARCS + MARGIN) + MARGIN)
    title_lines = lines(title, int(TITLE_COLUMNS * width / 900), 900)
    marks: list[Shape] = list(column(title_lines, MARGIN, MARGIN + 12, bold=True, room=width - 2 * MARGIN))
    top = MARGIN + len(title_lines) * _LINE + 10
    bottom = top
    for number, outline in enumerate(outlines):
        left = MARGIN + number * (WIDTH + ARCS + MARGIN)
        marks += _drawn(outline, left, top)
        rows = len(outline.boxes) + (1 if outline.left_out or not outline.boxes else 0)
        bottom = max(bottom, top + _LINE + rows * (BOX + GAP))
    marks += _legend(outlines, bottom + 4)
    return Scene(width, bottom + 30, title, tuple(marks))


def _drawn(outline: Outline, left: float, top: float) -> Iterator[Shape]:
    yield TextLine(left, top + 10, outline.title, 13, True, room=WIDTH)
    first = top + _LINE
    yield from _arcs(outline, left, first)
    for number, box in enumerate(outline.boxes):
        y = first + number * (BOX + GAP)
        yield Rect(left, y, WIDTH, BOX, TEXT, 0.10, TEXT, radius=3)
        time = "" if box.time_s is None else f", {in_time(box.time_s)}"
        nodes = f"{box.nodes:,} nodes{time}" if box.nodes != 1 else f"1 node{time}"
        yield TextLine(left + 8, y + 18, box.label, 12, True, room=WIDTH - 160)
        yield TextLine(left + WIDTH - 8, y + 18, nodes if box.nodes else "", 11, anchor="end", room=140)
        x = left + 8
        for name, count in box.shares:
            wide = (WIDTH - 16) * count / max(box.nodes, 1)
            yield _swatch(name, outline.by, (x, y + BOX - _STRIP - 3, wide, _STRIP))
            x += wide
    last = first + len(outline.boxes) * (BOX + GAP)
    if not outline.boxes:
        yield TextLine(left + 8, last + 14, "no nodes in this graph", 12)
    elif outline.left_out:
        yield TextLine(left + 8, last + 14, f"… and {outline.left_out:,} more boxes", 12)


def _arcs(outline: Outline, left: float, first: float) -> Iterator[Shape]:
    """Draw a line to the next box and an arc on the right to any other."""
    for tie in outline.ties:
        color, width = (PURPLE, 2.0) if tie.crossing else (TEXT, 1.0)
        start, end = first + tie.source * (BOX + GAP), first + tie.target * (BOX + GAP)
        dash = (5.0, 3.0) if tie.crossing else None
        if tie.target == tie.source + 1:
            x, y = left + WIDTH / 2, end
            yield Line(x, start + BOX, x, y, color, width, dash)
            yield Polyline(((x - 4, y - 7), (x + 4, y - 7), (x, y)), None, fill=color)
            if tie.crossing:
                size = "size unknown" if tie.crossing_bytes is None else f"{tie.crossing_bytes / 1e6:.3g} MB"
                what = "a tensor crosses" if tie.crossing == 1 else f"{tie.crossing} tensors cross"
                yield TextLine(x + 10, y - 7, f"{what}, {size}", 10, color=color, room=WIDTH / 2 - 20)
        else:
            reach = left + WIDTH + 6 + min(ARCS - 10, 5.0 * abs(tie.target - tie.source))
            y1, y2 = start + BOX - 8, end + 8
            edge = left + WIDTH
            points = ((edge, y1), (reach, y1 + 6), (reach, y2 - 6), (edge, y2))
            yield Polyline(points, color, width, opacity=0.8)
            yield Polyline(((edge + 7, y2 - 4), (edge + 7, y2 + 4), (edge, y2)), None, fill=color)


def _legend(outlines: Sequence[Outline], y: float) -> Iterator[Shape]:
    x = MARGIN
    shown = ((name, outline.by) for outline in outlines for box in outline.boxes for name, _ in box.shares)
    for name, by in dict.fromkeys(shown):
        yield _swatch(name, by, (x, y, 18, 11))
        yield TextLine(x + 24, y + 10, name, 11, room=110)
        x += 44 + 7 * min(len(name), 16)


def _swatch(name: str, by: str, box: tuple[float, float, float, float]) -> Rect:
    style = style_named(name, by)
    return Rect(*box, style.color, 1, TEXT, 0.6, hatch=style.pattern, ink=style.ink)


def style_named(name: str, by: str) -> FillStyle:
    """Return the fill of a provider or a fate."""
    if by == "fate":
        return FATES[name][0] if name in FATES else PLAIN
    return PLAIN if name == "unknown" else style_of_provider(name)
