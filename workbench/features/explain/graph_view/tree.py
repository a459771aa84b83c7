"""Nested boxes: a node is in exactly one, no box has too many children, the graph's order is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from workbench.features.explain.graph_view.scopes import Path

MOST_CHILDREN = 60  # of one box: more are cut into runs; about what a person can look over
MOST_LOOSE = 4  # nodes in a row beside boxes; more become a box, or the boxes drown in them
RUN = 30  # children in one run of a flat graph
MOST_FIRST = 26  # boxes at first sight, so that their texts are large enough for a projector
MOST_OPEN = 300  # boxes that a dominant box may bring to first sight

ROOT = 0
INPUTS, OUTPUTS = "inputs", "outputs"  # boxes of a model's own, when it has many; closed at first


@dataclass(frozen=True, slots=True)
class GraphBox:
    """A box with children; `parent` is an earlier box, the root is its own parent."""

    label: str
    path: str  # the same in the graphs of one model, so that boxes open together
    parent: int


@dataclass(frozen=True, slots=True)
class BoxTree:
    """All boxes; `home` is the box of each node."""

    boxes: tuple[GraphBox, ...]
    home: tuple[int, ...]

    def children(self) -> list[list[tuple[bool, int]]]:
        """Return the children of each box, (is a box, its number), in the order of their first nodes."""
        entries: list[list[tuple[int, bool, int]]] = [[] for _ in self.boxes]
        for number, (box, inside) in enumerate(zip(self.boxes, self.members(), strict=True)):
            if number != ROOT:
                entries[box.parent].append((min(inside, default=len(self.home)), True, number))
        for node, box_number in enumerate(self.home):
            entries[box_number].append((node, False, node))
        return [[(is_box, number) for _, is_box, number in sorted(rows)] for rows in entries]

    def members(self) -> list[list[int]]:
        """Return the nodes within each box, at any depth."""
        inside: list[list[int]] = [[] for _ in self.boxes]
        for node, number in enumerate(self.home):
            inside[number].append(node)
        for number in range(len(self.boxes) - 1, ROOT, -1):
            inside[self.boxes[number].parent] += inside[number]
        return inside


@dataclass(slots=True)
class _Draft:
    label: str
    boxes: dict[str, _Draft] = field(default_factory=dict)
    nodes: list[int] = field(default_factory=list)
    first: int = 0


def tree_of(
    paths: Sequence[Path],
    words: Sequence[str] = (),
    *,
    alone: Collection[int] = (),
    keep: int = 0,
) -> BoxTree:
    """Build boxes from a path for each node, in topological order. `words` of nodes name unnamed boxes.

    Nodes that are `alone` are never put into such a box. Boxes down to the depth `keep` stay also where they
    hold one thing only.
    """
    root = _Draft("")
    for node, path in enumerate(paths):
        at = root
        for part in path:
            at = at.boxes.setdefault(part, _Draft(part, first=node))
        at.nodes.append(node)
    _shorten(root, keep)
    boxes: list[GraphBox] = []
    home = [ROOT] * len(paths)
    _lay_down(root, words, frozenset(alone), boxes, home)
    return BoxTree(tuple(boxes), tuple(home))


def _shorten(root: _Draft, keep: int) -> None:
    """Replace a box of one node by the node, and a box of one box by that box."""
    waiting, order = [(0, root)], []
    while waiting:
        depth, at = waiting.pop()
        order.append((depth, at))
        waiting += [(depth + 1, box) for box in at.boxes.values()]
    for depth, at in reversed(order):
        if depth < keep:
            continue
        for key, box in list(at.boxes.items()):
            if not box.boxes and len(box.nodes) == 1:
                at.nodes.append(box.nodes[0])
                del at.boxes[key]
            elif not box.nodes and len(box.boxes) == 1:
                (inner,) = box.boxes.values()
                inner.label = f"{box.label}/{inner.label}"
                at.boxes[key] = inner
        at.nodes.sort()
    if not keep and not root.nodes and len(root.boxes) == 1:
        (inner,) = root.boxes.values()
        root.label, root.boxes, root.nodes = inner.label, inner.boxes, inner.nodes


def _lay_down(
    root: _Draft, words: Sequence[str], alone: frozenset[int], boxes: list[GraphBox], home: list[int]
) -> None:
    waiting: list[tuple[_Draft, int, str]] = [(root, ROOT, "")]
    while waiting:
        draft, above, inside = waiting.pop()
        number = len(boxes)
        own = f"{inside}/{draft.label}" if number else draft.label
        boxes.append(GraphBox(draft.label, own, above))
        _gather_loose(draft, words, alone)
        _cut_runs(draft)
        for node in draft.nodes:
            home[node] = number
        waiting += [(box, number, own) for box in draft.boxes.values()]


def _gather_loose(draft: _Draft, words: Sequence[str], alone: frozenset[int]) -> None:
    """Put many nodes in a row beside boxes into a box of their own."""
    if not draft.boxes or len(draft.nodes) <= MOST_LOOSE:
        return
    stay: list[int] = []
    row: list[int] = []
    for first, box in [*_in_order(draft), (0, _Draft(""))]:
        if box is None:
            (stay if first in alone else row).append(first)
            continue
        if len(row) > MOST_LOOSE:
            title = _told(row, words)
            draft.boxes[f"{title} {row[0]}"] = _Draft(title, nodes=row, first=row[0])
        else:
            stay += row
        row = []
    draft.nodes = stay


def _told(nodes: Sequence[int], words: Sequence[str]) -> str:
    """Return the most frequent words of the nodes, such as `Gather, Unsqueeze, …`."""
    counts = Counter(words[node] for node in nodes if node < len(words)).most_common()
    kept = [word for word, _ in counts[:2]]
    return ", ".join([*kept, "…"] if len(counts) > len(kept) else kept) or f"{len(nodes)} nodes"


def _in_order(draft: _Draft) -> list[tuple[int, _Draft | None]]:
    children: list[tuple[int, _Draft | None]] = [(node, None) for node in draft.nodes]
    children += [(box.first, box) for box in draft.boxes.values()]
    return sorted(children, key=lambda child: child[0])


def _cut_runs(draft: _Draft) -> None:
    """Split too many children into parts of a readable length."""
    if len(draft.boxes) + len(draft.nodes) <= MOST_CHILDREN:
        return
    children = _in_order(draft)
    size = max(RUN, -(-len(children) // MOST_CHILDREN))
    draft.boxes, draft.nodes = {}, []
    for begin in range(0, len(children), size):
        part = children[begin : begin + size]
        run = _Draft(f"part {begin // size + 1} of {-(-len(children) // size)}", first=part[0][0])
        for first, box in part:
            if box is None:
                run.nodes.append(first)
            else:
                run.boxes[f"{len(run.boxes)} {box.label}"] = box
        draft.boxes[run.label] = run


def open_alike(trees: Sequence[BoxTree]) -> list[tuple[int, ...]]:
    """Return the boxes that are open at first; a box in several trees is open in all or in none."""
    opened = [set(first_open(tree)) for tree in trees]
    shut = {
        tree.boxes[number].path
        for tree, numbers in zip(trees, opened, strict=True)
        for number in range(1, len(tree.boxes))
        if number not in numbers
    }
    return [
        tuple(number for number in sorted(numbers) if number == ROOT or tree.boxes[number].path not in shut)
        for tree, numbers in zip(trees, opened, strict=True)
    ]


def first_open(tree: BoxTree) -> tuple[int, ...]:
    """Return the boxes that are open at first: whole depths while they fit, then the largest boxes."""
    children, sizes = tree.children(), [len(inside) for inside in tree.members()]
    opened = [ROOT]
    shown = len(children[ROOT])
    ports = {f"/{INPUTS}", f"/{OUTPUTS}"}
    level = [number for is_box, number in children[ROOT] if is_box and tree.boxes[number].path not in ports]
    while level:
        grown = shown + sum(len(children[number]) - 1 for number in level)
        if grown > MOST_FIRST:
            break
        opened += level
        shown = grown
        level = [number for box in level for is_box, number in children[box] if is_box]
    while level:
        most = max(level, key=sizes.__getitem__)
        grown = shown + len(children[most]) - 1
        if sizes[most] * 2 <= len(tree.home) or grown > MOST_OPEN:
            break
        opened.append(most)
        shown = grown
        level.remove(most)
        level += [number for is_box, number in children[most] if is_box]
    return tuple(opened)
