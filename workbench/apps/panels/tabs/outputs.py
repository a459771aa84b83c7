"""The view outputs: how right each config is, and how far B's outputs are from A's."""

from __future__ import annotations

from functools import partial

from workbench.apps.panels.state import BenchState
from workbench.apps.panels.tabs.card import Card
from workbench.apps.panels.tabs.tab import Tab
from workbench.core.bundle.display import frame_of

_COLUMNS = ("label", "output", "agrees", "reason", "max_abs_error", "relative_error", "sqnr_db", "nan_count",
            "inf_count")  # fmt: skip


def cards(state: BenchState) -> list[Card]:
    """Return the evaluation, then the outputs that the comparison checked."""
    shown: list[Card] = []
    table = state.whole_part("accuracy")
    if table is not None:
        card = partial(Card, summary=str(table), part="accuracy")
        shown += [
            card("accuracy", "result.accuracy().figure()", draw=table.figure, table=table.to_frame),
            card("each output", "result.accuracy().fidelity_frame()", table=table.fidelity_frame),
        ]
    result = state.result
    if result is not None and result.agreement:
        draw, table = result.agreement_figure, partial(frame_of, result.agreement, _COLUMNS)
        shown.append(Card("error", "result.agreement_figure()", str(result), draw, table))
    return shown


OUTPUTS = Tab(
    "Outputs",
    "Compare checks the outputs before it shows a speed; this runs A and B on labelled examples where there "
    "are any, and on random ones otherwise.",
    cards,
    {"accuracy": "accuracy"},
)
