"""The cards of an evaluation: accuracy with the error of all outputs, and each output."""

from __future__ import annotations

from workbench.drawing.card import Card, Held, figure_card


def cards(held: Held) -> list[Card]:
    """Return the figure with its table, and the table of outputs where a candidate has some."""
    made, source = held.whole_part("accuracy"), "result.accuracy()"
    assert made is not None
    shown = [
        figure_card("accuracy", source, made, "figure", made.to_frame, part="accuracy"),
        figure_card(
            "each output", source, made, "fidelity_frame", made.fidelity_frame, draw=None, part="accuracy"
        ),
    ]
    return shown if made.record.fidelity else shown[:1]
