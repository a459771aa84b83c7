"""Names for all nodes, so that ORT's assignment, profile and saved graph join by name."""

from __future__ import annotations

from collections.abc import Iterator

from onnx import ModelProto, NodeProto

from workbench.models.structure import graphs


def unnamed(model: ModelProto) -> bool:
    """Return whether any node lacks a name or shares one: a profile cannot tell such nodes apart."""
    names = [node.name for node in _nodes(model)]
    return "" in names or len(set(names)) < len(names)


def name_nodes(model: ModelProto) -> int:
    """Name nodes in place after their operator and a number, the same way each time; return how many."""
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
