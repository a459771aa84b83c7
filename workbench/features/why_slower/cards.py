"""The card of why a config is slower: the causes as bars, and below them what to do about each."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.drawing.card import Card, Held, part_card
from workbench.drawing.markup import message_html, note_html

KIND = "why slower"


def cards(held: Held) -> list[Card]:
    """Return the card of each candidate."""
    parts = held.held_parts(KIND).items()
    return [part_card(KIND, label, made, below=partial(causes, made)) for label, made in parts]


def causes(reasons: Any) -> str:
    """Return each cause with its evidence and its fix, to stand below their bars."""
    listed = "".join(
        f"<li>{message_html(f'{reason.id}:', reason.sentence, reason.fix.text)}</li>"
        for reason in reasons.reasons
    )
    return f"<ul>{listed}</ul>" if listed else note_html("No cause was found.")
