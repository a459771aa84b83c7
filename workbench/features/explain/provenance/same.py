"""Whether two graphs are the same graph, whatever ORT called the things that it made."""

from __future__ import annotations

import hashlib
from collections import Counter

from workbench.features.explain.graph import Graph


def same_graph(first: Graph, second: Graph) -> bool:
    """Return whether two graphs are equal up to generated names: operators, attributes and wiring."""
    if len(first.nodes) != len(second.nodes) or first.outputs != second.outputs:
        return False
    return _shape(first) == _shape(second)


def _shape(graph: Graph) -> Counter[str]:
    """Count nodes by a hash of all that leads to them; constants count by type and shape."""
    marks: dict[str, str] = {name: f"in {name}" for name in graph.inputs}
    for name, info in graph.constants.items():
        marks[name] = f"constant {info.element} {info.dims}"
    counts: Counter[str] = Counter()
    for node in graph.nodes:
        read = "|".join(marks.get(name, "?" if name else "") for name in node.inputs)
        mark = hashlib.blake2b(f"{node.kind} {node.digest} {read}".encode(), digest_size=12).hexdigest()
        counts[mark] += 1
        for index, name in enumerate(node.outputs):
            marks[name] = f"{mark}.{index}"
    return counts


def graph_signature(graph: Graph) -> str:
    """Return a hash that two graphs share exactly if they are the same up to generated names."""
    counts = sorted(_shape(graph).items())
    text = repr((len(graph.nodes), graph.outputs, counts))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
