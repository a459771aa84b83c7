"""The memory tab: the memory of the process, and what else is offered there."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card
from workbench.apps.panels.tabs.tab import Tab

_COLUMNS = ["label", "load_s", "first_run_s", "peak_rss_bytes"]


def cards(state: BenchState) -> list[Card]:
    """Return the peak memory and the load time of the comparison."""
    shown: list[Card] = []
    result = state.result
    if result is not None:
        draw, table = result.resources_figure, partial(resident, result)
        shown.append(Card("peak and load", "result.resources_figure()", str(result), draw, table))
    return shown


def resident(result: Any) -> Any:
    """Return the columns of the runs that are about memory and loading."""
    return result.to_frame().filter(items=_COLUMNS)


MEMORY_TAB = Tab(
    "memory",
    "Peak memory and load time come with Compare; the buttons above measure the memory of each node, the "
    "steps of a start, and what each memory setting is worth.",
    cards,
)
