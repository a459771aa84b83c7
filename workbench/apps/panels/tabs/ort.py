"""The view what ORT did: the graph that runs, what was fused, each pass, and what would run elsewhere."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, part_card
from workbench.apps.panels.tabs.tab import Tab

GRAPH = "graph"
LEAST_PX = 400  # height of the graph; it grows with the window


def cards(state: BenchState) -> list[Card]:
    """Return A beside B, the table of all fusions, then the figures of each config."""
    explanations = state.held_parts("explanation")
    if not explanations:
        return []
    from workbench.apps.panels.tabs.elsewhere import Elsewhere
    from workbench.apps.panels.tabs.fusion_table import FusionTable
    from workbench.features.explain.fusions import Fusions

    both = Fusions({label: explanation.explained for label, explanation in explanations.items()})
    name, part = "result.fusions()", f"explanation/{max(explanations)}"
    heading = nodes_words(both)
    shown = [
        Card(
            "fusions", f"{name}.patterns_frame()", str(both), partial(FusionTable, both, state),
            both.patterns_frame, None, both.figure, part=part, heading=fused_words(both),
        )
    ]  # fmt: skip
    for label, explanation in explanations.items():
        card = partial(Card, summary=str(explanation), part=f"explanation/{label}", label=label)
        name, placed, passes = (
            f'result.explanation("{label}")',
            explanation.placement.to_frame,
            explanation.passes,
        )
        shown += [
            card(
                "before and after" if len(explanations) > 1 else GRAPH, f"{name}.graph()",
                draw=explanation.graph, table=placed, key="node",
                heading=nodes_words(Fusions({label: explanation.explained})),
            ),
            card("operators", f"{name}.histogram_figure()", draw=explanation.histogram_figure,
                 table=passes.statistics.ops_frame),
            card("flow", f"{name}.flow_figure()", draw=explanation.flow_figure,
                 table=explanation.provenance.to_frame, key="node"),
            card("passes", f"{name}.passes_figure()", draw=explanation.passes_figure, table=passes.to_frame),
            card(
                "elsewhere", f"{name}.what_if()",
                draw=partial(Elsewhere, explanation, state), table=partial(predictions, explanation),
                draw_alone=partial(predicted, explanation),
                heading="Where the nodes would run on other providers, by tables",
            ),
        ]  # fmt: skip
    shown += [
        part_card("model files", label, files, f'result.files("{label}")')
        for label, files in state.held_parts("model files").items()
    ]  # fmt: skip
    if {"A", "B"} <= explanations.keys():
        draw, summary = partial(view, explanations, state), summary_of(explanations)
        shown.insert(0, Card(GRAPH, "result.graph()", summary, draw, part="explanation/B", heading=heading))
    return shown


def nodes_words(fusions: Any) -> str:
    """Return how many nodes the model has and how many run: "946 nodes became 466 in A and 410 in B"."""
    counts = {label: len(made.optimized.nodes) for label, made in fusions.explained.items()}
    source = len(next(iter(fusions.explained.values())).source.nodes)
    if len(set(counts.values())) == 1 and len(counts) > 1:
        return (
            f"{source:,} nodes became {next(iter(counts.values())):,} in each: "
            f"{fused_words(fusions).removesuffix(' in each')}"
        )
    became = [f"{count:,} in {label}" for label, count in counts.items()]
    listed = f"{', '.join(became[:-1])} and {became[-1]}" if len(became) > 1 else became[0]
    return f"{source:,} nodes became {listed}: {fused_words(fusions)}"


def fused_words(fusions: Any) -> str:
    """Return how many of the patterns that could be fused were: "6 of 6 patterns fused in A, 0 in B"."""
    rows = fusions.rows()
    could = sum(row.could for row in rows)
    first, *others = [f"{sum(dict(row.fused)[label] for row in rows):,}" for label in fusions.explained]
    if not could:
        return "no pattern that ORT could fuse"
    named = [f"{first} of {could:,} patterns fused", *others]
    if all(count == first for count in others):
        return f"{named[0]} in each" if others else named[0]
    return ", ".join(f"{words} in {label}" for words, label in zip(named, fusions.explained, strict=True))


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
    "What ORT made of the graph, pass by pass, and where each node runs. Nothing is timed.",
    cards,
    {"explanation": GRAPH},
    needs_room=True,
    opens_with="explanation",
    pills=2,
)
