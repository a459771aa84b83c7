"""Trace optimized nodes to source nodes of one graph, also where B's file was prepared from A's."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.analysis.explanation import Explained
from workbench.analysis.provenance.step import trace_step


def ancestors(explained: Explained, ran: Iterable[str]) -> dict[str, frozenset[str]]:
    """Return the source nodes of each executed node, by its name in the profile; none if not traced."""
    names = {node.key: node.name for node in explained.optimized.nodes}
    traced: dict[str, frozenset[str]] = {}
    for row in explained.provenance.account.optimized:
        name = names.get(row.node, row.node)
        traced[name] = traced.get(name, frozenset()) | frozenset(row.sources)
    return {name: traced.get(name, frozenset()) for name in ran}


def inserted(explained: Explained) -> frozenset[str]:
    """Return the nodes that ORT inserted to carry a value: reorders, copies, casts."""
    names = {node.key: node.name for node in explained.optimized.nodes}
    return frozenset(
        names.get(row.node, row.node) for row in explained.provenance.account.optimized if row.inserted
    )


def as_nodes_of_a(a: Explained, b: Explained, of_b: dict[str, frozenset[str]]) -> dict[str, frozenset[str]]:
    """Return B's ancestors as nodes of A's source graph, where B loaded another file."""
    known = {node.key for node in a.source.nodes}
    if {node.key for node in b.source.nodes} == known:
        return of_b
    made_of = trace_step(a.source, b.source).sources
    return {
        name: frozenset(origin for source in sources for origin in made_of.get(source, frozenset()))
        for name, sources in of_b.items()
    }
