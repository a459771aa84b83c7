"""What explanations, ablations and level tables must hold to be what they say, whoever wrote the file."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.analysis.ablation import AblationRecord
from workbench.analysis.explanation import Explained
from workbench.analysis.graph import Graph
from workbench.analysis.levels import LevelsRecord
from workbench.errors import BundleError
from workbench.records.kinds import check_comparison
from workbench.text import quoted


def check_explanation(told: Explained, fix: str) -> None:
    """Every node that is spoken of is in the graph that it is said to be in."""
    for name in ("source", "prepared", "basic", "optimized"):
        _check_graph(getattr(told, name), name, fix)
    source = [node.key for node in told.source.nodes]
    prepared = [node.key for node in told.prepared.nodes]
    optimized = [node.key for node in told.optimized.nodes]
    of_source, of_prepared, of_optimized = frozenset(source), frozenset(prepared), frozenset(optimized)
    account = told.provenance.account
    _equal([one.node for one in account.sources], source, "provenance.account.sources", fix)
    _equal([one.node for one in account.optimized], optimized, "provenance.account.optimized", fix)
    _equal([one.node for one in told.placement.nodes], optimized, "placement.nodes", fix)
    _within((key for one in account.sources for key in one.into), of_optimized, "sources[…].into", fix)
    _within((key for one in account.optimized for key in one.sources), of_source, "optimized[…].sources", fix)
    _within((key for key, _ in told.placement.sources), of_source, "placement.sources", fix)
    _within((one.producer for one in told.placement.boundaries), of_optimized, "placement.boundaries", fix)
    for one in told.passes.missed:
        _within(one.nodes, of_prepared, "passes.missed[…].nodes", fix)
        _within(one.stopped_at, of_optimized, "passes.missed[…].stopped_at", fix)


def check_measured(record: AblationRecord | LevelsRecord, fix: str) -> None:
    """The comparison that it stands on is one."""
    check_comparison(record.comparison, fix)


def _check_graph(graph: Graph, name: str, fix: str) -> None:
    keys = {node.key for node in graph.nodes}
    if len(keys) != len(graph.nodes):
        raise BundleError(f"{name}: two nodes have one key.", fix)


def _equal(found: list[str], expected: list[str], place: str, fix: str) -> None:
    if found != expected:
        raise BundleError(f"{place}: not the nodes of its graph, in their order.", fix)


def _within(found: Iterable[str], known: frozenset[str], place: str, fix: str) -> None:
    for key in found:
        if key not in known:
            raise BundleError(f"{place}: {quoted(key)} is not in its graph.", fix)
