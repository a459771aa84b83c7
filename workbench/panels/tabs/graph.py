"""The graph tab: what ORT made of the model, and where each node runs."""

from __future__ import annotations

from typing import Any

from workbench.panels.bench import Bench
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.parts import EXPLAIN, PROFILE, parts
from workbench.panels.tabs.tab import Tab


def pieces(bench: Bench) -> list[Piece]:
    """A against B, then each of them against the source."""
    told, timed = parts(bench, "explanation"), times_s(bench)
    found = [
        Piece(
            f"source and {label}", f'result.explanation("{label}").graph()', str(one), one.graph,
            one.placement.to_frame, "node", of=f"explanation/{label}",
        )
        for label, one in told.items()
    ]  # fmt: skip
    if {"A", "B"} <= told.keys():
        drawn = Piece(
            "A and B as they run", "result.graph()", both(told), lambda: view(told, timed), of="explanation/B"
        )
        found.insert(0, drawn)
    return found


def view(told: dict[str, Any], timed: dict[str, Any]) -> Any:
    """The optimized graphs side by side, coloured by time where both were profiled."""
    from workbench.views.graph import graph_view

    a, b = (told[label].explained for label in ("A", "B"))
    return graph_view(a, b, times_s=timed.get("A"), after_times_s=timed.get("B"))


def both(told: dict[str, Any]) -> str:
    """One sentence of each."""
    return "\n".join(f"{label}: {one}" for label, one in told.items())


def times_s(bench: Bench) -> dict[str, dict[str, float]]:
    """Mean seconds of a run by node, of the configs that were profiled."""
    found = {}
    for label, profile in parts(bench, "profile").items():
        table, runs = profile.to_frame(), len(profile.runs_s) or 1
        found[label] = {str(n): float(s) / runs for n, s in zip(table["node"], table["self_s"], strict=True)}
    return found


GRAPH = Tab(
    "graph",
    "The graph before and after ORT's passes, by provider and by fate. Press Explain: nothing is timed.",
    pieces,
    (EXPLAIN, PROFILE),
)
