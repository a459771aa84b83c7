"""The graph tab: what ORT made of the model, and where each node runs."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, part_card
from workbench.apps.panels.tabs.tab import Tab


def cards(state: BenchState) -> list[Card]:
    """Return A beside B, then each of them beside the source, then what differs between model files."""
    explanations = state.held_parts("explanation")
    shown: list[Card] = []
    for label, explanation in explanations.items():
        card = partial(Card, summary=str(explanation), part=f"explanation/{label}", label=label)
        name, placed = f'result.explanation("{label}")', explanation.placement.to_frame
        shown += [
            card("source and optimized", f"{name}.graph()", draw=explanation.graph, table=placed, key="node"),
            card(
                "where would it run elsewhere?", f"{name}.what_if()",
                draw=partial(elsewhere, explanation, state), table=partial(predictions, explanation),
                draw_alone=partial(predicted, explanation),
            ),
        ]  # fmt: skip
    shown += [
        part_card("model files", label, files, f'result.files("{label}")')
        for label, files in state.held_parts("model files").items()
    ]  # fmt: skip
    if {"A", "B"} <= explanations.keys():
        draw, summary = partial(view, explanations, times_s(state)), summary_of(explanations)
        shown.insert(0, Card("A and B as they run", "result.graph()", summary, draw, part="explanation/B"))
    return shown


def view(explanations: dict[str, Any], times: dict[str, dict[str, float]]) -> Any:
    """Draw the optimized graphs side by side, coloured by time if both were profiled."""
    from workbench.features.explain.graph_view import graph_view

    a, b = (explanations[label].explained for label in ("A", "B"))
    return graph_view(a, b, times_s=times.get("A"), after_times_s=times.get("B"))


def elsewhere(explanation: Any, state: BenchState) -> Any:
    """Return the table of predictions, and the graph of the chosen one."""
    from workbench.apps.panels.tabs.elsewhere import Elsewhere

    return Elsewhere(explanation, state)


def predictions(explanation: Any) -> Any:
    """Return a row for each provider that there is a table for."""
    return explanation.what_if().to_frame()


def predicted(explanation: Any) -> Any:
    """Draw the graph on the provider that would take most of it."""
    name = predictions(explanation)["prediction_for"].iloc[0]
    return explanation.graph(name)


def summary_of(parts: dict[str, Any]) -> str:
    """Return one sentence for each label."""
    return "\n".join(f"{label}: {part}" for label, part in parts.items())


def times_s(state: BenchState) -> dict[str, dict[str, float]]:
    """Return the seconds of a run by node, of each profiled config: those that the flame shows."""
    from workbench.features.profile.difference.joining import in_the_names_of

    explanations = state.held_parts("explanation")
    return {
        label: in_the_names_of(explanations[label].explained, profile).node_times_s()
        for label, profile in state.held_parts("profile").items()
        if label in explanations
    }


GRAPH = Tab(
    "graph",
    "The graph before and after ORT's passes: where each node runs, what happened to it, and where it would "
    "run on other providers. Press Explain A and B: nothing is timed.",
    cards,
    ("explanation",),
)
