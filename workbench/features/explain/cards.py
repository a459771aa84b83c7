"""The cards of what ORT did: the graph that runs, what was fused, each pass, what would run elsewhere."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.drawing.card import Card, Held, figure_card, part_card
from workbench.features.explain.fusions import Fusions
from workbench.features.explain.passes.fusion_picks import fusion_picks
from workbench.features.explain.placement.elsewhere import elsewhere, predicted

GRAPH = "graph"
LEAST_PX = 400  # height of the graph; it grows with the window


def cards(held: Held) -> list[Card]:
    """Return A beside B, the table of all fusions, then the figures of each config."""
    explanations = held.held_parts("explanation")
    both = Fusions({label: explanation.explained for label, explanation in explanations.items()})
    shown = [
        figure_card(
            "fusions", "result.fusions()", both, "patterns_frame", both.patterns_frame,
            draw=partial(fusion_picks, both, dict(held.dims)), draw_alone=both.figure,
            part=f"explanation/{max(explanations)}", heading=both.fused_words,
        )
    ]  # fmt: skip
    for label, explanation in explanations.items():
        card = partial(
            figure_card, source=f'result.explanation("{label}")', made=explanation,
            part=f"explanation/{label}", label=label,
        )  # fmt: skip
        shown += [
            card("before and after" if len(explanations) > 1 else GRAPH, method="graph", key="node",
                 table=explanation.placement.to_frame,
                 heading=str(Fusions({label: explanation.explained}))),
            card("operators", method="histogram_figure", table=explanation.passes.statistics.ops_frame),
            card("flow", method="flow_figure", table=explanation.provenance.to_frame, key="node"),
            card("passes", method="passes_figure", table=explanation.passes.to_frame),
            card("elsewhere", method="what_if", draw=partial(elsewhere, explanation),
                 draw_alone=partial(predicted, explanation),
                 table=partial(predictions, explanation),
                 heading="Where the nodes would run on other providers, by tables"),
        ]  # fmt: skip
    shown += [
        part_card("model files", label, files, f'result.files("{label}")')
        for label, files in held.held_parts("model files").items()
    ]
    if {"A", "B"} <= explanations.keys():
        summary = "\n".join(f"{label}: {part}" for label, part in explanations.items())
        draw = partial(view, explanations, held)
        shown.insert(0, Card(GRAPH, "result.graph()", summary, draw, part="explanation/B", heading=str(both)))
    return shown


def predictions(explanation: Any) -> Any:
    """Return a row for each provider that there is a table for."""
    return explanation.what_if().to_frame()


def view(explanations: dict[str, Any], held: Held) -> Any:
    """Draw the optimized graphs side by side, coloured by time if both were profiled."""
    from workbench.features.explain.graph_view import graph_view

    a, b = (explanations[label].explained for label in ("A", "B"))
    times, difference = times_s(held), held.whole_part("first difference")
    errors = None if difference is None else difference.record.tensor_errors
    made = graph_view(a, b, times_s=times.get("A"), after_times_s=times.get("B"), errors=errors)
    made.height_px = LEAST_PX
    return made


def times_s(held: Held) -> dict[str, dict[str, float]]:
    """Return the seconds of a run by node, of each profiled config: those that the flame shows."""
    explanations = held.held_parts("explanation")
    return {
        label: profile.times_in(explanations[label].explained)
        for label, profile in held.held_parts("profile").items()
        if label in explanations
    }
