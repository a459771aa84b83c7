"""What is known of each candidate of a running study."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import exp

from workbench.config import Config
from workbench.records.study import Stage, State, StudyCandidate
from workbench.search.standings import BASELINE, BEYOND, Standings


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What the evaluation showed of one arithmetic; `broken` is the limit that it breaks."""

    value: float | None = None
    change: float | None = None
    error: float | None = None
    broken: str | None = None


@dataclass(slots=True)
class Entry:
    """One candidate so far."""

    label: str
    config: Config
    stage: Stage
    state: State = "not tried"
    reason: str = ""
    same_as: str | None = None
    file_bytes: int | None = None
    prepare_s: float | None = None
    accuracy: Accuracy = field(default_factory=Accuracy)

    def record(self, standings: Standings, rounds: int) -> StudyCandidate:
        """Return its record; the ratio is of the rounds that select."""
        measured = self.label != BASELINE and standings.rounds(self.label) > 0
        gain, error = standings.gain(self.label), standings.error(self.label)
        return StudyCandidate(
            label=self.label,
            config=self.config,
            stage=self.stage,
            state=self.state,
            reason=self.reason,
            same_as=self.same_as,
            ratio=exp(gain) if measured else None,
            low=exp(gain - BEYOND * error) if measured else None,
            high=exp(gain + BEYOND * error) if measured else None,
            rounds=rounds,
            file_bytes=self.file_bytes,
            prepare_s=self.prepare_s,
            accuracy=self.accuracy.value,
            accuracy_change=self.accuracy.change,
            error=self.accuracy.error,
        )


def entries_of(candidates: Iterable[StudyCandidate]) -> dict[str, Entry]:
    """Return the entries of a study that is continued; those that were not tried may be tried now."""
    return {
        candidate.label: Entry(
            label=candidate.label,
            config=candidate.config,
            stage=candidate.stage,
            state=candidate.state,
            reason=candidate.reason,
            same_as=candidate.same_as,
            file_bytes=candidate.file_bytes,
            prepare_s=candidate.prepare_s,
            accuracy=Accuracy(candidate.accuracy, candidate.accuracy_change, candidate.error),
        )
        for candidate in candidates
    }
