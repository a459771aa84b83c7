"""The gains of the candidates of a study, one number a round, and who is beaten."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

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
