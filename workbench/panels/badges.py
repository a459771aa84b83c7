"""Badges on the nodes of the graph and the flame view: what findings say about them."""

from __future__ import annotations

from typing import Any

from workbench.panels.state import BenchState

MOST_NODES = 2_000  # of one finding


def badges_of(state: BenchState) -> dict[str, str]:
    """Return the titles of the findings by node; small findings have no badge."""
    titles: dict[str, dict[str, None]] = {}
    for part in state.held_parts("findings").values():
        for finding in part.record.large:
            for node in finding.nodes[:MOST_NODES]:
                titles.setdefault(node, {})[finding.title] = None
    return {node: "; ".join(texts) for node, texts in titles.items()}


def link_badges(state: BenchState, view: Any) -> None:
    """Keep the badges of a view as the findings are."""

    def follow(_: object = None) -> None:
        view.badges = badges_of(state)

    follow()
    state.observe(follow, names=["result", "parts", "parts_made"])
