"""The fusions tab: what happened to each node, which pass did it, and which fusions are missing."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.tab import Tab


def cards(state: BenchState) -> list[Card]:
    """Return the table of all fusions, then operators, flow and passes of each config."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return []
    from workbench.panels.tabs.fusion_table import FusionTable
    from workbench.results.fusions import Fusions

    both = Fusions({label: explanation.explained for label, explanation in explanations.items()})
    name, part = "result.fusions()", f"explanation/{max(explanations)}"
    whole = Card(
        "fusions", f"{name}.patterns_frame()", str(both), partial(FusionTable, both, state),
        both.patterns_frame, None, both.figure, part=part,
    )  # fmt: skip
    return [whole, *(card for label, made in explanations.items() for card in explanation_cards(label, made))]


def explanation_cards(label: str, explanation: Any) -> list[Card]:
    """Return the cards of one config."""
    name, summary, passes = f'result.explanation("{label}")', str(explanation), explanation.passes
    part = f"explanation/{label}"
    return [
        Card(
            "operators", f"{name}.histogram_figure()", summary, explanation.histogram_figure,
            passes.statistics.ops_frame, part=part, label=label,
        ),
        Card(
            "flow", f"{name}.flow_figure()", summary, explanation.flow_figure,
            explanation.provenance.to_frame, "node", part=part, label=label,
        ),
        Card(
            "passes", f"{name}.passes_figure()", summary, explanation.passes_figure,
            passes.to_frame, part=part, label=label,
        ),
    ]  # fmt: skip


FUSIONS = Tab(
    "fusions",
    "What ORT fused, folded and left alone, which pass did it and what each is worth. Explain times nothing; "
    "the other two measure.",
    cards,
)
