"""The gains of the candidates that are in, in every objective of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from workbench.records.display import config_in_words
from workbench.records.goal import Objective
from workbench.records.run import Run
from workbench.records.study import StudyCandidate
from workbench.search.entries import Entry
from workbench.search.objectives import Sides, gains_of
from workbench.search.standings import BASELINE, Gains, Standings


class Tally:
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
        self, entries: Iterable[Entry], rounds_of: Callable[[str], int]
    ) -> tuple[StudyCandidate, ...]:
        """Return the record of every candidate."""
        first, *others = [Standings(self.gains(at)) for at in range(len(self._objectives))]
        further = dict(zip(self._objectives[1:], others, strict=True))
        return tuple(entry.record(first, rounds_of(entry.label), further) for entry in entries)

    def best_in_words(self, entries: dict[str, Entry]) -> str | None:
        """Return the leader with its interval, in words; None while nothing is ahead of the default."""
        standings = Standings(self.gains())
        label = max(filter(self.is_measured, self._gains), key=standings.gain, default=BASELINE)
        if standings.gain(label) <= 0:
            return None
        row = entries[label].record(standings, 0, {})
        return f"{row.ratio:.2f}× ({row.low:.2f} to {row.high:.2f}) {config_in_words(row.config)}"
