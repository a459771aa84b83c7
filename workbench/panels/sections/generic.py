"""Sections that hold nothing but their knobs."""

from __future__ import annotations

from workbench.panels.sections.section import Section


class ThreadsSection(Section):
    """The number of threads, and how they wait."""

    group = "threads"
    hint = "How many threads ORT uses, where they run and how they wait"


class MemorySection(Section):
    """Patterns, reuse and the arena."""

    group = "memory"
    hint = "How ORT plans and keeps memory"


class GraphSection(Section):
    """The level, rewrites and a saved graph."""

    group = "graph"
    hint = "How far the graph is rewritten, before and while ORT loads it"
