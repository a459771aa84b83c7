"""An experiment: rounds of fresh processes over candidates, until more of them would change nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from workbench.core.measure.blocks import MIN_CYCLES, WARM_UP_BOUND_S, BlockRound
from workbench.core.measure.compare_request import CompareRequest
from workbench.core.measure.evidence import RoundsEvidence
from workbench.core.measure.limits import Limits, OnProgress, Progress
from workbench.core.measure.pairs import MIN_CLEAN_CYCLES
from workbench.core.measure.surroundings import Surroundings

T = TypeVar("T")


class Experiment:
    """The clock, the budget, the order and the progress of rounds. Subclasses say what a round measures."""

    surroundings: Surroundings

    def __init__(self, request: CompareRequest, budget_s: float, on_progress: OnProgress) -> None:
        self.request = request
        self.budget_s = budget_s
        self.rounds = 0
        self.began = 0.0
        self.pass_s = 0.0  # the time of the latest pass over all candidates
        self.rng = random.Random(request.seed)
        self._on_progress = on_progress

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the rounds began, those of an earlier part of them included."""
        return self.surroundings.clock() - self.began

    @property
    def ends_s(self) -> float:
        """Return the seconds after which measuring ends, whatever is known by then."""
        return self.budget_s

    def run_until(self, is_last: Callable[[], bool], measure_all: Callable[[], None]) -> None:
        """Measure all candidates again and again, until the last pass over them."""
        while True:
            began_s = self.elapsed_s
            measure_all()
            self.pass_s = self.elapsed_s - began_s
            if is_last():
                return

    def groups(self, everyone: Sequence[T]) -> list[list[T]]:
        """Return all in one group, or each with the first one, the baseline, if memory is short."""
        if len(everyone) > 2 and not self.surroundings.has_room(len(everyone) * self.request.model_bytes):
            return [[everyone[0], other] for other in everyone[1:]]
        return [[*everyone]]

    def fraction(self) -> float | None:
        """Return the done share, here that of the time; None: not known."""
        return min(1.0, self.elapsed_s / self.ends_s)

    def progress(self, doing: str) -> Progress:
        """Return the current step, and the time that is left at most."""
        elapsed_s, share = self.elapsed_s, self.fraction()
        end_s = elapsed_s / share if share else self.ends_s
        remaining_s = None if share is None else max(0.0, end_s - elapsed_s)
        return Progress(doing, self.rounds, elapsed_s, self.ends_s, share, remaining_s)

    def report(self, doing: str) -> None:
        """Report the current step."""
        self._on_progress(self.progress(doing))


class BlockExperiment(Experiment):
    """An experiment whose rounds are blocks of runs, for a comparison or a study."""

    evidence: RoundsEvidence

    def block_round(
        self,
        *,
        sampling_s: float,
        with_outputs: bool,
        share: float = 1.0,
        limits: Limits | None = None,
        on_step: Callable[[str], None] | None = None,
    ) -> BlockRound:
        """Return the next round; `share` is that of the usual warm-up and sampling."""
        self.rounds += 1
        is_usual = share == 1.0
        return BlockRound(
            self.surroundings,
            limits or self.request.limits,
            self.rounds,
            self.rng,
            on_step or self.report,
            began=self.began,
            with_outputs=with_outputs,
            pacing_s=self.request.pacing_s,
            sampling_s=sampling_s * share,
            waits_for_clean=self.request.clock == "wall" and is_usual,
            is_busy=self.evidence.population() == "all",
            warm_up_s=WARM_UP_BOUND_S * share,
            least_cycles=MIN_CYCLES if is_usual else MIN_CLEAN_CYCLES,
        )
