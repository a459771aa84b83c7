"""What is known of each candidate of a running study, and its gains so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import exp
from pathlib import Path
from statistics import fmean

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import config_in_words
from workbench.core.bundle.goal import Objective
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.measure.candidate import Candidate
from workbench.core.text import factor, factor_ends
from workbench.features.tune.objectives import Sides, gains_of
from workbench.features.tune.record import ObjectiveRatio, RoundRate, Stage, State, StudyCandidate

BASELINE = "A"
PRIOR_SCATTER = 0.03  # of one round's log gain, before any repeat is known
PRIOR_DEGREES = 3
LEAST_SCATTER = 0.004
BEYOND = 2.0  # standard errors

Gains = Mapping[str, Mapping[int, float]]  # label → round → log(the default's value / its own)


@dataclass(frozen=True, slots=True)
class Gap:
    """The difference of two log gains, with its standard error."""

    middle: float
    error: float


class Standings:
    """The standing of every candidate after the rounds so far."""

    def __init__(self, gains: Gains) -> None:
        self._gains = {label: rounds for label, rounds in gains.items() if rounds}
        self._means = {label: fmean(rounds.values()) for label, rounds in self._gains.items()}
        squares, degrees = PRIOR_DEGREES * PRIOR_SCATTER**2, PRIOR_DEGREES
        for label, rounds in self._gains.items():
            squares += sum((gain - self._means[label]) ** 2 for gain in rounds.values())
            degrees += len(rounds) - 1
        self.scatter = max(LEAST_SCATTER, math.sqrt(squares / degrees))

    def gain(self, label: str) -> float:
        """Return the mean log gain; 0 of the default and of what was not measured."""
        return self._means.get(label, 0.0)

    def rounds(self, label: str) -> int:
        """Return the number of rounds."""
        return len(self._gains.get(label, ()))

    def error(self, label: str) -> float:
        """Return the standard error of the mean log gain."""
        return self.scatter / math.sqrt(max(1, self.rounds(label)))

    def gap(self, first: str, second: str) -> Gap:
        """Return how far the first is ahead, over the rounds of both where there are any."""
        if BASELINE in (first, second):
            other = second if first == BASELINE else first
            sign = -1.0 if first == BASELINE else 1.0
            return Gap(sign * self.gain(other), self.error(other))
        ours, theirs = self._gains.get(first, {}), self._gains.get(second, {})
        shared = ours.keys() & theirs.keys()
        if len(shared) * 2 >= max(len(ours), len(theirs)):
            middle = fmean(ours[round] - theirs[round] for round in shared)
            return Gap(middle, self.scatter / math.sqrt(len(shared)))
        return Gap(self.gain(first) - self.gain(second), math.hypot(self.error(first), self.error(second)))

    def is_beaten(self, label: str, leader: str, beyond: float = BEYOND) -> bool:
        """Return whether the leader is ahead beyond doubt."""
        if label == leader:
            return False
        gap = self.gap(leader, label)
        return gap.middle > beyond * gap.error


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
