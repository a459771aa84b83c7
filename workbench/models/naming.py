"""Unique names for all nodes, by which ORT's assignment, profile and saved graph are joined."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import ModelProto, NodeProto

from workbench.models.structure import graphs


def unnamed(model: ModelProto) -> bool:
    """Return whether any node has no name or a shared one, so that a profile cannot identify it."""
    names = [node.name for node in _nodes(model)]
    return "" in names or len(set(names)) < len(names)


def name_nodes(model: ModelProto) -> int:
    """Name nodes in place by operator and number, deterministically; return the number of new names."""
    taken = {node.name for node in _nodes(model)}
    used: set[str] = set()
    counts: dict[str, int] = {}
    changed = 0
    for node in _nodes(model):
        if node.name and node.name not in used:
            used.add(node.name)
            continue
        stem = node.name or node.op_type
        while True:
            counts[stem] = counts.get(stem, -1) + 1
            name = f"{stem}_{counts[stem]}"
            if name not in taken:
                break
        node.name = name
        taken.add(name)
        used.add(name)
        changed += 1
    return changed


def _nodes(model: ModelProto) -> Iterator[NodeProto]:
    for graph in graphs(model):
        yield from graph.node
