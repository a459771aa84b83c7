"""The graph tab: what ORT made of the model, and where each node runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.tab import Tab


def cards(state: BenchState) -> list[Card]:
    """Return A beside B, then each of them beside the source."""
    explanations = state.held_parts("explanation")
    shown = [
        Card(
            f"source and {label}", f'result.explanation("{label}").graph()', str(explanation),
            explanation.graph, explanation.placement.to_frame, "node", part=f"explanation/{label}",
        )
        for label, explanation in explanations.items()
    ]  # fmt: skip
    if {"A", "B"} <= explanations.keys():
        draw, summary = partial(view, explanations, times_s(state)), summary_of(explanations)
        shown.insert(0, Card("A and B as they run", "result.graph()", summary, draw, part="explanation/B"))
    return shown


def view(explanations: dict[str, Any], times: dict[str, dict[str, float]]) -> Any:
    """Draw the optimized graphs side by side, coloured by time if both were profiled."""
    from workbench.views.graph import graph_view

    a, b = (explanations[label].explained for label in ("A", "B"))
    return graph_view(a, b, times_s=times.get("A"), after_times_s=times.get("B"))


def summary_of(parts: dict[str, Any]) -> str:
    """Return one sentence for each label."""
    return "\n".join(f"{label}: {part}" for label, part in parts.items())


def times_s(state: BenchState) -> dict[str, dict[str, float]]:
    """Return the mean seconds of a run by node, of each profiled config."""
    times = {}
    for label, profile in state.held_parts("profile").items():
        table, runs = profile.to_frame(), len(profile.runs_s) or 1
        rows = zip(table["node"], table["self_s"], strict=True)
        times[label] = {str(node): float(seconds) / runs for node, seconds in rows}
    return times


GRAPH = Tab(
    "graph",
    "The graph before and after ORT's passes, by provider and by fate. Press Explain: nothing is timed.",
    cards,
    ("explanation",),
)
