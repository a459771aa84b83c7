"""The roofline and threads tabs: how far nodes are from the limits of this machine, and how it scales."""

from __future__ import annotations

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.tab import Tab
from workbench.panels.tabs.thread_choice import ThreadChoice


def cards(state: BenchState) -> list[Card]:
    """Return the roofline of all configs, side by side."""
    by_label = state.held_parts("roofline")
    if not by_label:
        return []
    from workbench.results.roofline import Roofline

    both = Roofline.of({label: roofline.record for label, roofline in by_label.items()})
    part = f"roofline/{max(by_label)}"
    return [Card("roofline", "result.roofline()", str(both), both.figure, both.to_frame, "node", part=part)]


ROOFLINE_TAB = Tab(
    "roofline",
    "Roofline measures what this machine can do at most, and compares each node with it.",
    cards,
    ("roofline",),
)
THREADS_TAB = Tab(
    "threads",
    "Latency and processor time of 1, 2, 4… threads, with and without spinning.",
    tools=ThreadChoice,
)
