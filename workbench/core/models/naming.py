"""Unique names for all nodes, by which ORT's assignment, profile and saved graph are joined."""

from __future__ import annotations

from collections import defaultdict
from copy import deepcopy
from itertools import count
from typing import TYPE_CHECKING

from workbench.core.rewrites.graphs import graphs

if TYPE_CHECKING:
    from onnx import ModelProto


def unnamed(model: ModelProto) -> bool:
    """Return whether any node has no name or a shared one, so that a profile cannot identify it."""
    names = [node.name for graph in graphs(model) for node in graph.node]
    return "" in names or len(set(names)) < len(names)


def named_copy(model: ModelProto) -> ModelProto:
    """Return a copy whose nodes all have a name of their own."""
    copy = deepcopy(model)
    name_nodes(copy)
    return copy


def name_nodes(model: ModelProto) -> int:
    """Name nodes in place by operator and number, deterministically; return the number of new names."""
    nodes = [node for graph in graphs(model) for node in graph.node]
    taken = {node.name for node in nodes}
    used: set[str] = set()
    numbers: defaultdict[str, count[int]] = defaultdict(count)
    changed = 0
    for node in nodes:
        if node.name and node.name not in used:
            used.add(node.name)
            continue
        stem = node.name or node.op_type
        node.name = next(name for number in numbers[stem] if (name := f"{stem}_{number}") not in taken)
        taken.add(node.name)
        used.add(node.name)
        changed += 1
    return changed
