"""The memory tab: the memory of the process, of each node, and the steps of a start."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, joined_cards
from workbench.apps.panels.tabs.tab import Tab

COLUMNS = ["label", "load_s", "first_run_s", "peak_rss_bytes"]


def cards(state: BenchState) -> list[Card]:
    """Return the memory of the comparison and of the nodes, and the cold starts on one axis."""
    shown: list[Card] = []
    result = state.result
    if result is not None:
        draw, table = result.resources_figure, partial(resident, result)
        shown.append(Card("peak and load", "result.resources_figure()", str(result), draw, table))
    shown += joined_cards(state, "memory", "by node", "result.memory()")
    return shown + joined_cards(state, "cold start", "cold start", "result.cold_start()")


def resident(result: Any) -> Any:
    """Return the columns of the runs that are about memory and loading."""
    return result.to_frame().filter(items=COLUMNS)


MEMORY = Tab(
    "memory",
    "Peak memory and load time come with Compare, the memory of each node with Memory by node, the steps of "
    "a start with Cold start.",
    cards,
    ("memory", "cold start"),
)
