"""What is known of each candidate of a running study, and its gains so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import exp
from pathlib import Path

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.goal import Objective
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.measure.candidate import Candidate
from workbench.core.text import factor, factor_ends
from workbench.features.tune.objectives import Sides, gains_of
from workbench.features.tune.record import ObjectiveRatio, RoundRate, Stage, State, StudyCandidate
from workbench.features.tune.standings import BASELINE, BEYOND, Gains, Standings


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What the evaluation showed of one arithmetic; `broken` is the limit that it breaks."""

    value: float | None = None
    change: float | None = None
    error: float | None = None
    broken: str | None = None


@dataclass(slots=True)
class StudyEntry:
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


KEPT = [field.name for field in fields(StudyEntry) if field.name not in ("accuracy", "rates")]
"""The fields of an entry that its record has as they are."""


def entries_of(candidates: Iterable[StudyCandidate]) -> dict[str, StudyEntry]:
    """Return the entries of a study that is continued; those that were not tried may be tried now."""
    return {
        candidate.label: StudyEntry(
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


class StudyTally:
    """The gains of every candidate that is in; those not measured yet have none."""

    def __init__(self, objectives: Sequence[Objective]) -> None:
        self._objectives = tuple(objectives)
        self._gains: dict[str, list[dict[int, float]]] = {}

    def __contains__(self, label: str) -> bool:
        return label in self._gains

    def admit(self, label: str) -> None:
        """Let a candidate in."""
        self._gains.setdefault(label, [{} for _ in self._objectives])

    def drop(self, label: str) -> None:
        """Forget the gains of a candidate that is out."""
        self._gains.pop(label, None)

    def take(self, label: str, default: Run, run: Run, sides: Sides) -> None:
        """Count the gains of one candidate in its rounds since it was taken last."""
        self._gains[label] = [
            gains_of(objective, default, run, sides, known)
            for objective, known in zip(self._objectives, self._gains[label], strict=True)
        ]

    def gains(self, at: int = 0) -> Gains:
        """Return the gains in one objective."""
        return {label: gains[at] for label, gains in self._gains.items()}

    def is_measured(self, label: str) -> bool:
        """Return whether a candidate that is in has any gain."""
        return bool(self._gains.get(label, [{}])[0])

    def records(
        self, entries: Iterable[StudyEntry], rounds_of: Callable[[str], int]
    ) -> tuple[StudyCandidate, ...]:
        """Return the record of every candidate."""
        first, *others = [Standings(self.gains(at)) for at in range(len(self._objectives))]
        further = dict(zip(self._objectives[1:], others, strict=True))
        return tuple(entry.record(first, rounds_of(entry.label), further) for entry in entries)

    def best_in_words(self, entries: dict[str, StudyEntry]) -> str | None:
        """Return the leader with its interval, in words; None while nothing is ahead of the default."""
        standings = Standings(self.gains())
        label = max(filter(self.is_measured, self._gains), key=standings.gain, default=BASELINE)
        if standings.gain(label) <= 0:
            return None
        row = entries[label].record(standings, 0, {})
        gain = factor(row.ratio or 1.0, row.low, row.high) + factor_ends(row.low, row.high)
        return f"{gain} {config_in_words(row.config)}"
