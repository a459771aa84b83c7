"""The flame tab: where the time goes."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.panels.state import BenchState
from workbench.panels.tabs.card import Card
from workbench.panels.tabs.graph import summary_of
from workbench.panels.tabs.tab import Tab
from workbench.panels.tabs.traces import TraceTools


def cards(state: BenchState) -> list[Card]:
    """Return the flame of both on one scale, then the tables of each."""
    profiles, explanations = state.held_parts("profile"), state.held_parts("explanation")
    if not profiles:
        return []
    draw, part = partial(view, profiles, explanations), f"profile/{max(profiles)}"
    shown = [Card("flame", "result.flame()", summary_of(profiles), draw, part=part)]
    for label, profile in profiles.items():
        name = f'result.profile("{label}")'
        card = partial(Card, summary=str(profile), part=f"profile/{label}", label=label)
        draw, table = profile.op_type_figure, partial(profile.by, "op_type")
        shown.append(card("by operator", f"{name}.op_type_figure()", draw=draw, table=table))
        shown.append(card("by node", f"{name}.to_frame()", table=profile.to_frame, key="node"))
    return shown


def view(profiles: dict[str, Any], explanations: dict[str, Any]) -> Any:
    """Draw A above B; with both explanations the difference node by node, too."""
    from workbench.views.flame.view import flame_of_two, flame_view

    if len(profiles) == 1:
        label, profile = next(iter(profiles.items()))
        return flame_view(profile, label=label)
    explained = [explanations[label].explained if label in explanations else None for label in ("A", "B")]
    return flame_of_two(profiles["A"], profiles["B"], *explained)


FLAME = Tab(
    "flame",
    "Where the time goes: by module, by operator, in time. Press Profile A and B; once both are explained, "
    "B is compared with A node by node, too.",
    cards,
    ("profile",),
    TraceTools,
)
