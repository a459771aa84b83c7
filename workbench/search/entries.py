"""What is known of each candidate of a running study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
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
        ratio, low, high = self._ends(standings) if measured else (None, None, None)
        return StudyCandidate(
            **{name: getattr(self, name) for name in KEPT},
            ratio=ratio,
            low=low,
            high=high,
            rounds=rounds,
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


KEPT = [field.name for field in fields(Entry) if field.name not in ("accuracy", "rates")]
"""The fields of an entry that its record has as they are."""


def entries_of(candidates: Iterable[StudyCandidate]) -> dict[str, Entry]:
    """Return the entries of a study that is continued; those that were not tried may be tried now."""
    return {
        candidate.label: Entry(
            **{name: getattr(candidate, name) for name in KEPT},
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
