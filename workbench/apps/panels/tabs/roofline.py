"""The roofline and threads tabs: how far nodes are from the limits of this machine, and how it scales."""

from __future__ import annotations

from workbench.apps.panels.tabs.tab import Tab
from workbench.apps.panels.tabs.thread_choice import ThreadChoice

ROOFLINE_TAB = Tab(
    "roofline",
    "Roofline measures what this machine can do at most, and compares each node with it.",
)
THREADS_TAB = Tab(
    "threads",
    "Latency and processor time of 1, 2, 4… threads, with and without spinning.",
    tools=ThreadChoice,
)
