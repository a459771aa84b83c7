"""The memory tab: the memory of the process, of each node, and the steps of a start."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.tab import Tab
from workbench.results.memory import Memory

COLUMNS = ["label", "load_s", "first_run_s", "peak_rss_bytes"]


def cards(state: BenchState) -> list[Card]:
    """Return the memory of the comparison and of the nodes."""
    shown: list[Card] = []
    result = state.result
    if result is not None:
        table = partial(resident, result)
        shown.append(Card("resident memory and load", "result.to_frame()", str(result), None, table))
    by_label = state.held_parts("memory")
    if by_label:
        both = Memory.of({label: memory.record for label, memory in by_label.items()})
        title, part = f"memory by node, {' and '.join(by_label)}", f"memory/{max(by_label)}"
        shown.append(Card(title, "result.memory()", str(both), both.figure, both.to_frame, "node", part=part))
    return shown


def resident(result: Any) -> Any:
    """Return the columns of the runs that are about memory and loading."""
    frame = result.to_frame()
    return frame[[name for name in COLUMNS if name in frame.columns]]


MEMORY = Tab(
    "memory",
    "Peak memory and load time come with Compare, the memory of each node with Memory by node, the steps of "
    "a start with Cold start.",
    cards,
    ("memory",),
)
