"""A winner twice: on the rounds that selected it, and on fresh ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import factor_ends
from workbench.features.base.drawn_table import DrawnTable, dots

if TYPE_CHECKING:
    from workbench.features.tune.record import StudyRecord

_NUMBERS = ("ratio", "low", "high")


def proof(record: StudyRecord) -> DrawnTable:
    """Set a winner's ratio on the rounds that selected it beside the one on fresh rounds."""
    candidate, verdict = record.candidate(record.winner), record.verdict
    winner = config_in_words(candidate.config)
    speeds = {"rounds that selected": Estimate.of(candidate)}
    if verdict is not None:
        speeds["fresh rounds"] = Estimate.of(verdict)
    texts = [
        f"{speed.factor or 'not measured'}{factor_ends(speed.low, speed.high)}" for speed in speeds.values()
    ]
    sentence = f"{winner}: {texts[0]} as fast on the rounds that selected it"
    if record.winner == record.candidates[0].label:
        sentence = "The defaults won the selection: there was nothing to prove on fresh rounds."
        speeds, texts = {"the defaults": Estimate(1.0)}, ["1, by definition"]
    elif verdict is None:
        sentence += "; no time was left for fresh rounds, so nothing is proven."
    else:
        sentence += f", {texts[1]} on fresh rounds: {verdict.kind}."
    drawn = (
        (rounds, rounds, speed, text) for (rounds, speed), text in zip(speeds.items(), texts, strict=True)
    )
    rows = ((rounds, *speed.ends) for rounds, speed in speeds.items())
    chart = dots((winner,), "times as fast as the defaults", drawn)
    return DrawnTable(sentence, chart, ("rounds", *_NUMBERS), rows, _NUMBERS)
