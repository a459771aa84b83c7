"""The fusions tab: what happened to each node, which pass did it, and which fusions are missing."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card
from workbench.apps.panels.tabs.tab import Tab


def cards(state: BenchState) -> list[Card]:
    """Return the table of all fusions, then operators, flow and passes of each config."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return []
    from workbench.apps.panels.tabs.fusion_table import FusionTable
    from workbench.features.explain.fusions import Fusions

    both = Fusions({label: explanation.explained for label, explanation in explanations.items()})
    name, part = "result.fusions()", f"explanation/{max(explanations)}"
    whole = Card(
        "fusions", f"{name}.patterns_frame()", str(both), partial(FusionTable, both, state),
        both.patterns_frame, None, both.figure, part=part,
    )  # fmt: skip
    return [whole, *(card for label, made in explanations.items() for card in explanation_cards(label, made))]


def explanation_cards(label: str, explanation: Any) -> list[Card]:
    """Return the cards of one config."""
    passes = explanation.passes
    tables = (
        ("operators", "histogram_figure", passes.statistics.ops_frame, None),
        ("flow", "flow_figure", explanation.provenance.to_frame, "node"),
        ("passes", "passes_figure", passes.to_frame, None),
    )
    return [
        Card(
            title, f'result.explanation("{label}").{figure}()', str(explanation),
            getattr(explanation, figure), table, key, part=f"explanation/{label}", label=label,
        )
        for title, figure, table, key in tables
    ]  # fmt: skip


FUSIONS = Tab(
    "fusions",
    "What ORT fused, folded and left alone, which pass did it and what each is worth. Explain times nothing; "
    "the other two measure.",
    cards,
)
