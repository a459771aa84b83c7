"""The roofline and threads tabs: how far nodes are from what this machine can do, and how it scales."""

from __future__ import annotations

import workbench as wb
from workbench.panels.bench import Bench
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.parts import ROOFLINE, THREADS, made, parts
from workbench.panels.tabs.tab import Tab


def pieces(bench: Bench) -> list[Piece]:
    """Of all configs, side by side."""
    seen = parts(bench, "roofline")
    if not seen:
        return []
    both = wb.Roofline.of({label: one.record for label, one in seen.items()})
    name = f"roofline, {' and '.join(seen)}"
    of = f"roofline/{max(seen)}"
    return [Piece(name, "result.roofline()", str(both), both.figure, both.to_frame, "node", of=of)]


def scaling(bench: Bench) -> list[Piece]:
    """Of the configs that it was asked for."""
    return [
        Piece(
            f"threads, {label}", f"{made('thread scaling', label)}.figure()", str(one), one.figure,
            one.to_frame, of=f"thread scaling/{label}",
        )
        for label, one in parts(bench, "thread scaling").items()
    ]  # fmt: skip


ROOFLINE_TAB = Tab(
    "roofline",
    "What this machine can do at most is measured first, then each node is set against it.",
    pieces,
    (ROOFLINE,),
)
THREADS_TAB = Tab(
    "threads",
    "Latency and processor time of 1, 2, 4… threads, with spinning and without.",
    scaling,
    (THREADS,),
)
