"""The fusions tab: what became of each node, which pass did it, and which fusions are missing."""

from __future__ import annotations

from typing import Any

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.tab import Tab


def cards(state: BenchState) -> list[Card]:
    """Return counts, missing fusions, flow and passes of each config."""
    shown: list[Card] = []
    for label, explanation in state.held_parts("explanation").items():
        shown += explanation_cards(label, explanation)
    return shown


def explanation_cards(label: str, explanation: Any) -> list[Card]:
    """Return the cards of one config."""
    name, summary, passes = f'result.explanation("{label}")', str(explanation), explanation.passes
    part = f"explanation/{label}"
    fused, missed = passes.statistics.fusions_frame, passes.missed_frame
    return [
        Card(
            "operators", f"{name}.histogram_figure()", summary, explanation.histogram_figure, fused,
            part=part, label=label,
        ),
        Card("missing", f"{name}.passes.missed_frame()", summary, None, missed, part=part, label=label),
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
