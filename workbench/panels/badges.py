"""Badges on the nodes of the graph and the flame view: what findings say about them."""

from __future__ import annotations

from typing import Any

from workbench.panels.state import BenchState
from workbench.records.findings import badges


def badges_of(state: BenchState) -> dict[str, str]:
    """Return what the findings on the screen say about nodes."""
    return badges(part.record for part in state.held_parts("findings").values())


def link_badges(state: BenchState, view: Any) -> None:
    """Keep the badges of a view as the findings are."""

    def follow(_: object = None) -> None:
        view.badges = badges_of(state)

    follow()
    state.observe(follow, names=["result", "parts", "parts_made"])
