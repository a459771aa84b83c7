"""The flame tab: where the time goes."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.panels.bench import Bench
from workbench.panels.tabs.card import Piece
from workbench.panels.tabs.graph import both
from workbench.panels.tabs.parts import EXPLAIN, PROFILE, parts
from workbench.panels.tabs.tab import Tab
from workbench.panels.tabs.traces import TraceTools


def pieces(bench: Bench) -> list[Piece]:
    """Both on one scale, then the tables of each."""
    profiles, told = parts(bench, "profile"), parts(bench, "explanation")
    if not profiles:
        return []
    of = f"profile/{max(profiles)}"
    found = [Piece("flame", "result.flame()", both(profiles), lambda: view(profiles, told), of=of)]
    for label, one in profiles.items():
        name, of = f'result.profile("{label}")', f"profile/{label}"
        found += [
            Piece(
                f"by operator, {label}", f"{name}.op_type_figure()", str(one), one.op_type_figure,
                partial(one.by, "op_type"), of=of,
            ),
            Piece(
                f"by node, {label}", f"{name}.timeline_figure()", str(one), one.timeline_figure,
                one.to_frame, "node", of=of,
            ),
        ]  # fmt: skip
    return found


def view(profiles: dict[str, Any], told: dict[str, Any]) -> Any:
    """A above B; with both explanations also where the milliseconds went."""
    from workbench.views.flame.view import flame_of_two, flame_view

    if len(profiles) == 1:
        label, one = next(iter(profiles.items()))
        return flame_view(one, label=label)
    explained = [told[label].explained if label in told else None for label in ("A", "B")]
    return flame_of_two(profiles["A"], profiles["B"], *explained)


FLAME = Tab(
    "flame",
    "Where the time goes: by module, by operator, in time. Press Profile; with Explain too, B is set "
    "against A node by node.",
    pieces,
    (PROFILE, EXPLAIN),
    TraceTools,
)
