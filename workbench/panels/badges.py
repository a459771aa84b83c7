"""Badges on the nodes of the graph and the flame view: what findings say about them."""

from __future__ import annotations

from typing import Any

from workbench.panels.handlers import follow
from workbench.panels.state import BenchState
from workbench.records.findings import badges


def link_badges(state: BenchState, view: Any) -> None:
    """Keep the badges of a view as the findings are."""

    def show() -> None:
        view.badges = badges(part.record for part in state.held_parts("findings").values())

    follow(state, show, "result", "parts", "parts_made")
