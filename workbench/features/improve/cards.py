"""The card of a search: its figure, and below it every config that was tried, to take over."""

from __future__ import annotations

from functools import partial
from typing import Any

from workbench.core.bundle.display import config_in_words
from workbench.drawing.card import Card, ConfigUse, Held, PickTable, figure_card
from workbench.drawing.markup import text
from workbench.features.tune.result import Study

_COLUMNS = [
    "label", "config", "ratio", "low", "high", "rounds", "peak_rss_bytes", "load_s", "state", "reason",
]  # fmt: skip


def cards(held: Held) -> list[Card]:
    """Return the search of each improvement that has one."""
    searches = {label: made.search for label, made in held.held_parts("improvement").items()}
    return [
        figure_card(
            "searched configs", f'result.made("improvement", "{label}").search', study, "figure",
            study.to_frame, picks=partial(picks, study), part=f"improvement/{label}",
        )
        for label, study in searches.items()
        if study is not None
    ]  # fmt: skip


def picks(study: Study) -> PickTable:
    """Return all configs, the best first."""

    def details(label: str) -> list[Any]:
        config = study.config(label)
        words = f"{label}: {config_in_words(config)}. A click on a point or a row picks another."
        return [
            text(words),
            [ConfigUse(place, "", f"Put it into {place}", lambda _: config) for place in "AB"],
        ]

    frame = study.to_frame().sort_values("best", ascending=False, kind="stable")
    return PickTable(frame[_COLUMNS], "Pick one to use it.", details)
