"""The view what ORT did: the graph that runs, what was fused, each pass, and what would run elsewhere."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, figure_card, part_card
from workbench.apps.panels.tabs.tab import Tab

GRAPH = "graph"
LEAST_PX = 400  # height of the graph; it grows with the window


def cards(state: BenchState) -> list[Card]:
    """Return A beside B, the table of all fusions, then the figures of each config."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return []
    from workbench.apps.panels.tabs.ort_tables import Elsewhere, FusionTable
    from workbench.features.explain.fusions import Fusions

    both = Fusions({label: explanation.explained for label, explanation in explanations.items()})
    shown = [
        figure_card(
            "fusions", "result.fusions()", both, "patterns_frame", both.patterns_frame,
            draw=partial(FusionTable, both, state), draw_alone=both.figure,
            part=f"explanation/{max(explanations)}", heading=fused_words(both),
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
            card("elsewhere", method="what_if", draw=partial(Elsewhere, explanation, state),
                 draw_alone=partial(predicted, explanation), table=partial(predictions, explanation),
                 heading="Where the nodes would run on other providers, by tables"),
        ]  # fmt: skip
    shown += [
        part_card("model files", label, files, f'result.files("{label}")')
        for label, files in state.held_parts("model files").items()
    ]
    if {"A", "B"} <= explanations.keys():
        draw, summary = partial(view, explanations, state), summary_of(explanations)
        shown.insert(0, Card(GRAPH, "result.graph()", summary, draw, part="explanation/B", heading=str(both)))
    return shown


def fused_words(fusions: Any) -> str:
    """Return how many of the patterns that could be fused were: "6 of 6 patterns fused in A, 0 in B"."""
    rows = fusions.rows()
    could = sum(row.could for row in rows)
    if not could:
        return "no pattern that ORT could fuse"
    first, *others = [
        f"{sum(dict(row.fused)[label] for row in rows):,} in {label}" for label in fusions.explained
    ]
    return ", ".join([first.replace(" in ", f" of {could:,} patterns fused in ", 1), *others])


def view(explanations: dict[str, Any], state: BenchState) -> Any:
    """Draw the optimized graphs side by side, coloured by time if both were profiled."""
    from workbench.features.explain.graph_view import graph_view

    a, b = (explanations[label].explained for label in ("A", "B"))
    times, difference = times_s(state), state.whole_part("first difference")
    errors = None if difference is None else difference.record.tensor_errors
    made = graph_view(a, b, times_s=times.get("A"), after_times_s=times.get("B"), errors=errors)
    made.height_px = LEAST_PX
    return made


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


WHAT_ORT_DID = Tab(
    "What ORT did",
    cards=cards,
    own={"explanation": GRAPH},
    needs_room=True,
    opens_with="explanation",
    pills=2,
)
