"""The cards of a profile: the flame of two configs, and each by operator and by node."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.core.text import counted, in_time
from workbench.drawing.card import Card, Held, figure_card
from workbench.drawing.markup import text

MOST_NODES, MOST_LETTERS = 12, 80  # of an operator in the drawer, and of their names


def cards(held: Held) -> list[Card]:
    """Return the flame of the first two profiles, and the tables of each."""
    profiles, explanations = held.held_parts("profile"), held.held_parts("explanation")
    labels = sorted(profiles)[:2]
    draw, part = partial(view, labels, profiles, explanations), f"profile/{labels[-1]}"
    summary = "\n".join(f"{label}: {profiles[label]}" for label in labels)
    heading = f"Where the time of {' and '.join(labels)} goes, on one scale"
    shown = [Card("flame", code_of(labels), summary, draw, part=part, heading=heading)]
    for label, profile in profiles.items():
        card = partial(
            figure_card, source=f'result.profile("{label}")', made=profile, part=f"profile/{label}",
            label=label,
        )  # fmt: skip
        shown += [
            card("by operator", method="op_type_figure", table=partial(profile.by, "op_type"), key="op_type",
                 details=lambda op_type, profile=profile: [nodes_html(profile, op_type)]),
            card("by node", method="to_frame", table=profile.to_frame, key="node", draw=None),
        ]  # fmt: skip
    return shown


def nodes_html(profile: Any, op_type: str) -> str:
    """Return the slowest nodes of an operator with their times."""
    table = profile.to_frame()
    nodes = table[table["op_type"] == op_type].sort_values("self_s", ascending=False)
    listed = "".join(
        f"<li>{text(name, MOST_LETTERS)}: {in_time(time_s)}</li>"
        for name, time_s in zip(nodes["node"][:MOST_NODES], nodes["self_s"], strict=False)
    )
    return f"<b>{text(op_type)}</b>, {counted(len(nodes), 'node')}, the slowest:<ul>{listed}</ul>"


def code_of(labels: list[str]) -> str:
    """Return what draws the flame of these configs, from a result."""
    if len(labels) == 1:
        return f'result.profile("{labels[0]}").flame()'
    return "result.flame()" if labels == ["A", "B"] else 'result.flame("{1}", baseline="{0}")'.format(*labels)


def view(labels: list[str], profiles: dict[str, Any], explanations: dict[str, Any]) -> Any:
    """Draw the first above the second; with both explanations the difference node by node, too."""
    from workbench.features.profile.flame.view import flame_of_two, flame_view

    if len(labels) == 1:
        return flame_view(profiles[labels[0]], label=labels[0])
    a, b = labels
    explained = [explanations[label].explained if label in explanations else None for label in labels]
    return flame_of_two(profiles[a], profiles[b], *explained, labels=(a, b))
