"""What is known of each candidate of a running study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import exp
from pathlib import Path

from workbench.config import Config
from workbench.measurement.candidate import Candidate
from workbench.records.comparison import ComparisonRecord
from workbench.records.goal import Objective
from workbench.records.study import ObjectiveRatio, RoundRate, Stage, State, StudyCandidate
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
    rates: dict[int, float] = field(default_factory=dict)  # answers a second under load, by round

    def record(
        self, standings: Standings, rounds: int, further: Mapping[Objective, Standings]
    ) -> StudyCandidate:
        """Return its record; the ratios are of the rounds that select."""
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
            further=tuple(
                ObjectiveRatio(objective, *self._ends(other))
                for objective, other in further.items()
                if measured and other.rounds(self.label)
            ),
            rates=tuple(RoundRate(round, rate) for round, rate in sorted(self.rates.items())),
        )

    def _ends(self, standings: Standings) -> tuple[float, float, float]:
        """Return the ratio and the ends of its interval."""
        gain, error = standings.gain(self.label), standings.error(self.label)
        return exp(gain), exp(gain - BEYOND * error), exp(gain + BEYOND * error)


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
            rates={rate.round: rate.per_second for rate in candidate.rates},
        )
        for candidate in candidates
    }


def measured_before(selection: ComparisonRecord, model: Path, feeds: Path) -> list[Candidate]:
    """Return the configs of earlier rounds as candidates; they are prepared when they are measured again."""
    return [
        Candidate(
            label=run.label,
            config=run.config,
            model=model,
            plan={},
            feeds=feeds,
            preparation=run.preparation,
            failure=run.failure,
        )
        for run in selection.runs
    ]
