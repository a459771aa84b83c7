"""The view where time goes: the flame with its traces, by operator, the roofline, and why B is slower."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels import widgets as W
from workbench.apps.panels.bench import Bench
from workbench.apps.panels.files import content_of, file_name
from workbench.apps.panels.handlers import button, error_to
from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, figure_card, part_card
from workbench.apps.panels.tabs.ort import summary_of
from workbench.apps.panels.tabs.tab import Tab
from workbench.apps.server.links import LinkButton, speedscope_link
from workbench.core.text import counted, in_time

MOST_NODES, MOST_LETTERS = 12, 80  # of an operator in the drawer, and of their names


def cards(state: BenchState) -> list[Card]:
    """Return the flame of the first two profiles, the tables of each, and what costs B its time."""
    profiles, explanations = state.held_parts("profile"), state.held_parts("explanation")
    slower = [
        part_card("why slower", label, reasons, below=partial(causes, reasons))
        for label, reasons in state.held_parts("why slower").items()
    ]
    if not profiles:
        return slower
    labels = sorted(profiles)[:2]
    draw, part = partial(view, labels, profiles, explanations), f"profile/{labels[-1]}"
    summary = summary_of({label: profiles[label] for label in labels})
    heading = f"Where the time of {' and '.join(labels)} goes, on one scale"
    shown = [Card("flame", code_of(labels), summary, draw, part=part, heading=heading)]
    for label, profile in profiles.items():
        card = partial(
            figure_card,
            source=f'result.profile("{label}")',
            made=profile,
            part=f"profile/{label}",
            label=label,
        )
        shown += [
            card("by operator", method="op_type_figure", table=partial(profile.by, "op_type"), key="op_type",
                 details=partial(nodes_html, profile)),
            card("by node", method="to_frame", table=profile.to_frame, key="node", draw=None),
        ]  # fmt: skip
    return [*shown, *slower]


def nodes_html(profile: Any, op_type: str) -> str:
    """Return the slowest nodes of an operator with their times."""
    table = profile.to_frame()
    nodes = table[table["op_type"] == op_type].sort_values("self_s", ascending=False)
    listed = "".join(
        f"<li>{text(name, MOST_LETTERS)}: {in_time(time_s)}</li>"
        for name, time_s in zip(nodes["node"][:MOST_NODES], nodes["self_s"], strict=False)
    )
    return f"<b>{text(op_type)}</b>, {counted(len(nodes), 'node')}, the slowest:<ul>{listed}</ul>"


def causes(reasons: Any) -> str:
    """Return each cause with its evidence and its fix, to stand below their bars."""
    listed = "".join(
        f"<li><b>{text(reason.id)}:</b> {text(reason.sentence)} <i>Fix:</i> {text(reason.fix.text)}</li>"
        for reason in reasons.reasons
    )
    return f"<ul>{listed}</ul>" if listed else note_html("No cause was found.")


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


def trace_tools(bench: Bench, status: W.HTML) -> list[W.Widget]:
    """Return two buttons for each profile: it in speedscope, and its trace as a file."""
    tools: list[W.Widget] = []
    for label, profile in bench.state.held_parts("profile").items():
        link = LinkButton(None, f"{label} in speedscope")
        write = partial(speedscope_link, profile, f"{name_of(profile)}, {label}")
        bench.in_background(write, link.show, error_to(status))
        hint = f"The profiler's trace of {label} as a file, for speedscope, Perfetto or chrome://tracing"
        download = partial(download_trace, bench, label, profile, status)
        tools += [link, button(f"Download trace {label}", hint, download, status)]
    return tools


def download_trace(bench: Bench, label: str, profile: Any, status: W.HTML) -> None:
    """Write a trace in the background, and save it with the browser."""
    name, fix = f"{file_name(name_of(profile))}-{label}.trace.json", "Open it in speedscope instead."
    status.value = note_html("Writing the trace…")
    trace = partial(content_of, profile.save_trace, "trace.json")
    bench.page.download_made(name, "application/json", trace, status, fix=fix)


def name_of(profile: Any) -> str:
    """Return the name of a profile's model, which a stranger may have chosen."""
    model = profile.about.model
    return model.name if model is not None else "profile"


WHERE_TIME_GOES = Tab(
    "Where time goes",
    cards=cards,
    own={"profile": "flame", "why slower": "why slower"},
    tools=trace_tools,
    needs_room=True,
)
