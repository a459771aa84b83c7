"""The memory tab: what the process holds, what lives when, and what a start costs."""

from __future__ import annotations

from typing import Any

import workbench as wb
from workbench.panels.bench import Bench
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.parts import COLD_START, SETTINGS, made, parts
from workbench.panels.tabs.parts import MEMORY as BY_NODE
from workbench.panels.tabs.tab import Tab

COLUMNS = ["label", "load_s", "first_run_s", "peak_rss_bytes"]


def pieces(bench: Bench) -> list[Piece]:
    """From the comparison, from the profiles, from starts."""
    found: list[Piece] = []
    result = bench.state.result
    if result is not None:
        found.append(
            Piece(
                "resident memory and load", "result.to_frame()", str(result), None, lambda: resident(result)
            )
        )
    seen = parts(bench, "memory")
    if seen:
        both = wb.Memory.of({label: one.record for label, one in seen.items()})
        name = f"what lives when, {' and '.join(seen)}"
        of = f"memory/{max(seen)}"
        found.append(Piece(name, "result.memory()", str(both), both.figure, both.to_frame, "node", of=of))
    for label, one in parts(bench, "memory settings").items():
        code, of = f"{made('memory settings', label)}.figure()", f"memory settings/{label}"
        found.append(Piece(f"settings, {label}", code, str(one), one.figure, one.to_frame, of=of))
    for label, one in parts(bench, "cold start").items():
        code, of = f"{made('cold start', label)}.figure()", f"cold start/{label}"
        found.append(Piece(f"cold start, {label}", code, str(one), one.figure, one.to_frame, of=of))
    return found


def resident(result: Any) -> Any:
    """The columns of the runs that are about memory and loading."""
    frame = result.to_frame()
    return frame[[name for name in COLUMNS if name in frame.columns]]


MEMORY = Tab(
    "memory",
    "Peak memory and load time come with Compare, what lives when with Memory by node, the steps of a start "
    "with Cold start.",
    pieces,
    (BY_NODE, COLD_START, SETTINGS),
)
