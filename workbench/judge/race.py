"""A race of many configs: drops beaten configs, then confirms the winner on fresh rounds only.

The best of many looks better than it is on the rounds that selected it. Its verdict therefore uses only
rounds measured after the selection, against the baseline alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.judge.evidence import Evidence
from workbench.judge.sequential import is_look
from workbench.judge.verdict import Criteria, kind_of
from workbench.measurement.candidate import Candidate
from workbench.records.comparison import Verdict

SELECTION_SHARE = 0.6  # maximum share of the budget; the rest confirms
BASELINE = "A"


@dataclass(slots=True)
class Race:
    """The configs still in the race. `winner` is None during the selection, and if the baseline wins.

    Nothing changes where no race was asked for, since nothing is ever selected.
    """

    dropped: set[str] = field(default_factory=set)
    winner: str | None = None
    selected_after: int | None = None  # the last round of the selection

    def running(self, alive: list[Candidate]) -> list[Candidate]:
        """Return the configs to measure in the next round."""
        return [candidate for candidate in alive if candidate.label not in self.dropped]

    def select(self, evidence: Evidence, criteria: Criteria, *, last_round: int, must_end: bool) -> None:
        """Drop the configs that are certainly beaten; end the selection if one is left, or if it must end."""
        if self.selected_after is not None:
            return
        alive = {candidate.label for candidate in self.running(evidence.alive())}
        self.dropped |= {row.label for row in evidence.agreement if row.agrees is False} & alive
        running = [
            candidate.label for candidate in self.running(evidence.alive()) if candidate.label != BASELINE
        ]
        gains = {BASELINE: 0.0}
        for label in running:
            estimate = criteria.interval(criteria.ratios(evidence.pairs(label)))
            gains[label] = estimate.middle if estimate is not None else 0.0
        leader = max(gains, key=lambda label: gains[label])
        self.dropped |= {label for label in running if self._is_beaten(evidence, leader, label, criteria)}
        running = [label for label in running if label not in self.dropped]
        if len(running) > 1 and not must_end:
            return
        self.winner = max(running, key=lambda label: gains[label], default=None)
        self.dropped |= {label for label in running if label != self.winner}
        self.selected_after = last_round

    def criteria(self, label: str, criteria: Criteria) -> Criteria:
        """Return the criteria of one candidate: only rounds after the selection count for the winner."""
        if label != self.winner or self.selected_after is None:
            return criteria
        return replace(criteria, after_round=self.selected_after)

    def described(self, verdict: Verdict) -> Verdict:
        """Return the verdict with its role in the race added to the reason."""
        if verdict.label == self.winner:
            return replace(verdict, reason=f"{verdict.reason}; confirmed on {verdict.rounds} fresh rounds")
        if verdict.label in self.dropped:
            return replace(verdict, reason=f"{verdict.reason}; left the race after {verdict.rounds} rounds")
        return verdict

    def _is_beaten(self, evidence: Evidence, leader: str, label: str, criteria: Criteria) -> bool:
        if label == leader:
            return False
        ratios = criteria.ratios(evidence.pairs(label, baseline=leader))
        estimate = criteria.interval(ratios)
        if estimate is None or not is_look(len(ratios)):
            return False
        return kind_of(estimate, criteria.smallest_effect) == "slower"
