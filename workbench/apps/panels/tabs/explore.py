"""The mode explore: sizes, load, decoding, models, versions, threads, each a form in a sentence."""

from __future__ import annotations

from workbench.apps.panels.tabs.tab import Tab
from workbench.apps.panels.tabs.thread_choice import ThreadChoice

EXPLORE = Tab(
    "Explore",
    "Choose what to look at: each measures all configs, or the one shown.",
    tools=(ThreadChoice,),
    has_limits=True,
    pills=9,
)
