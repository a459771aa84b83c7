"""Checks of explanations that were read from a file of anybody."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.core.errors import BundleError
from workbench.core.text import quoted
from workbench.features.explain.explanation import Explained


def check_explanation(explained: Explained, fix: str) -> None:
    """Refuse an explanation that names a node outside of its graph."""
    for name in ("source", "prepared", "basic", "optimized"):
        keys = [node.key for node in getattr(explained, name).nodes]
        if len(set(keys)) != len(keys):
            raise BundleError(f"{name}: two nodes have one key.", fix)
    source = [node.key for node in explained.source.nodes]
    prepared = [node.key for node in explained.prepared.nodes]
    optimized = [node.key for node in explained.optimized.nodes]
    of_source, of_prepared, of_optimized = frozenset(source), frozenset(prepared), frozenset(optimized)
    account = explained.provenance.account
    _equal([row.node for row in account.sources], source, "provenance.account.sources", fix)
    _equal([row.node for row in account.optimized], optimized, "provenance.account.optimized", fix)
    _equal([row.node for row in explained.placement.nodes], optimized, "placement.nodes", fix)
    _within((key for row in account.sources for key in row.into), of_optimized, "sources[…].into", fix)
    _within((key for row in account.optimized for key in row.sources), of_source, "optimized[…].sources", fix)
    _within((key for key, _ in explained.placement.sources), of_source, "placement.sources", fix)
    _within(
        (row.producer for row in explained.placement.boundaries), of_optimized, "placement.boundaries", fix
    )
    for row in explained.passes.missed:
        _within(row.nodes, of_prepared, "passes.missed[…].nodes", fix)
        _within(row.stopped_at, of_optimized, "passes.missed[…].stopped_at", fix)


def _equal(keys: list[str], expected: list[str], place: str, fix: str) -> None:
    if keys != expected:
        raise BundleError(f"{place}: not the nodes of its graph, in their order.", fix)


def _within(keys: Iterable[str], known: frozenset[str], place: str, fix: str) -> None:
    for key in keys:
        if key not in known:
            raise BundleError(f"{place}: {quoted(key)} is not in its graph.", fix)
