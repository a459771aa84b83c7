"""Source nodes of optimized nodes in the names of one source graph, also where B's file was made from A's."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.analysis.explanation import Explained
from workbench.analysis.provenance.step import trace_step


def ancestors(explained: Explained, ran: Iterable[str]) -> dict[str, frozenset[str]]:
    """Of each node that ran, by the name that a profile knows it by; what is not traced has none."""
    names = {node.key: node.name for node in explained.optimized.nodes}
    traced: dict[str, frozenset[str]] = {}
    for one in explained.provenance.account.optimized:
        name = names.get(one.node, one.node)
        traced[name] = traced.get(name, frozenset()) | frozenset(one.sources)
    return {name: traced.get(name, frozenset()) for name in ran}


def inserted(explained: Explained) -> frozenset[str]:
    """Nodes that ORT put in to carry a value: reorders, copies, casts."""
    names = {node.key: node.name for node in explained.optimized.nodes}
    return frozenset(
        names.get(one.node, one.node) for one in explained.provenance.account.optimized if one.inserted
    )


def in_a_source(a: Explained, b: Explained, of_b: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """B's ancestors as nodes of A's source graph, where B's file is another: quantized, say."""
    known = {node.key for node in a.source.nodes}
    if {node.key for node in b.source.nodes} == known:
        return of_b
    made_of = trace_step(a.source, b.source).sources
    return {
        name: frozenset(origin for source in sources for origin in made_of.get(source, frozenset()))
        for name, sources in of_b.items()
    }
