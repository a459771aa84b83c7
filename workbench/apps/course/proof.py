"""A study's winner twice: on the rounds that selected it, and on fresh ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.display import config_in_words, frame_of
from workbench.core.text import bounded, factor, factor_ends
from workbench.features.base.exportable import Exportable

if TYPE_CHECKING:
    import pandas as pd

    from workbench.drawing.chart import Chart
    from workbench.features.tune.result import Study


@dataclass(frozen=True, slots=True)
class Speed:
    """A ratio to the defaults with its interval; None: not measured."""

    rounds: str  # which rounds it is from
    ratio: float | None
    low: float | None
    high: float | None

    def words(self) -> str:
        """Return the ratio with its interval."""
        if self.ratio is None:
            return bounded(self.low, self.high) or "not measured"
        return factor(self.ratio, self.low, self.high) + factor_ends(self.low, self.high)


class Proof(Exportable):
    """How a study's winner looked while it was selected, and what fresh rounds say. Made by `proof`."""

    def __init__(self, winner: str, speeds: tuple[Speed, ...], verdict: str | None) -> None:
        self.winner, self.speeds, self.verdict = winner, speeds, verdict

    def to_frame(self) -> pd.DataFrame:
        """One row for the selection and one for the fresh rounds; columns rounds, ratio, low, high."""
        numbers = ("ratio", "low", "high")
        return frame_of(self.speeds, ("rounds", *numbers), numbers)

    def __str__(self) -> str:
        if not self.speeds:
            return "The defaults won the selection: there was nothing to prove on fresh rounds."
        selected, *fresh = self.speeds
        text = f"{self.winner}: {selected.words()} as fast on the rounds that selected it"
        if not fresh:
            return f"{text}; no time was left for fresh rounds, so nothing is proven."
        return f"{text}, {fresh[0].words()} on fresh rounds: {self.verdict}."

    def chart(self) -> Chart:
        """Return a row for the selection and one for the fresh rounds."""
        from workbench.drawing.chart import Axis, Chart, ReferenceLine, Value, one_value, series_look

        rows = [
            one_value(
                speed.rounds,
                Value(speed.ratio, speed.words(), series_look(index, speed.rounds), speed.low, speed.high),
            )
            for index, speed in enumerate(self.speeds)
        ] or [one_value("the defaults", Value(1.0, "1, by definition", series_look(0)))]
        axis = Axis("times as fast as the defaults", "dot", (ReferenceLine(1.0),))
        return Chart((self.winner,), (axis,), tuple(rows))


def proof(study: Study) -> Proof:
    """Set a winner's ratio while it was selected beside the one on fresh rounds.

    >>> from workbench import course
    >>> str(course.Proof("ORT defaults", (), None))
    'The defaults won the selection: there was nothing to prove on fresh rounds.'
    """
    record = study.record
    candidate = record.candidate(record.winner)
    words = config_in_words(candidate.config)
    if record.winner == record.candidates[0].label:
        return Proof(words, (), None)
    speeds = [Speed("rounds that selected", candidate.ratio, candidate.low, candidate.high)]
    verdict = record.verdict
    if verdict is not None:
        speeds.append(Speed("fresh rounds", verdict.ratio, verdict.low, verdict.high))
    return Proof(words, tuple(speeds), None if verdict is None else verdict.kind)
