"""The accuracy tab: how right each config is, and how far B's outputs are from A's."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.apps.panels.markup import note_html, text
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card, part_card
from workbench.apps.panels.tabs.tab import Tab
from workbench.core.bundle.display import frame_of

_COLUMNS = (
    "label",
    "output",
    "agrees",
    "reason",
    "max_abs_error",
    "relative_error",
    "sqnr_db",
    "nan_count",
    "inf_count",
)


def cards(state: BenchState) -> list[Card]:
    """Return the evaluation, what costs a config its time, and the outputs of the comparison."""
    shown: list[Card] = []
    table = state.whole_part("accuracy")
    if table is not None:
        card = partial(Card, summary=str(table), part="accuracy")
        shown += [
            card("accuracy and error", "result.accuracy().figure()", draw=table.figure, table=table.to_frame),
            card("each output", "result.accuracy().fidelity_frame()", table=table.fidelity_frame),
        ]
    shown += [
        part_card("why slower", label, reasons, title="causes", below=partial(causes, reasons))
        for label, reasons in state.held_parts("why slower").items()
    ]
    result = state.result
    if result is not None and result.agreement:
        draw, table = result.agreement_figure, partial(frame_of, result.agreement, _COLUMNS)
        shown.append(Card("outputs", "result.agreement_figure()", str(result), draw, table))
    return shown


def causes(reasons: Any) -> str:
    """Return each cause with its evidence and its fix, to stand below their bars."""
    listed = "".join(
        f"<li><b>{text(reason.id)}:</b> {text(reason.sentence)} <i>Fix:</i> {text(reason.fix.text)}</li>"
        for reason in reasons.reasons
    )
    return f"<ul>{listed}</ul>" if listed else note_html("No cause was found.")


ACCURACY_TAB = Tab(
    "accuracy",
    "Compare checks the outputs before it shows a speed. Measure accuracy runs A and B on labelled examples, "
    "if there are any, and on random ones otherwise. After a comparison, Why B is slower names what costs B "
    "its time. If A or B has a precision, Layer errors and Sensitivity show which layers it harms.",
    cards,
    ("accuracy", "why slower"),
)
