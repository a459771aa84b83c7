"""The measuring loop: rounds until the verdicts are settled or the budget is spent."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import median

from workbench.core.bundle.comparison import Verdict
from workbench.core.errors import Cancelled, RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import (
    DEFAULT_BUDGET_S,
    SAMPLING_S,
    STEP_CHECK,
    STEP_MEASURE,
    CompareRequest,
    default_budget_s,
    longest_s,
)
from workbench.core.measure.continuing import final_looks, last_round
from workbench.core.measure.evidence import RoundsEvidence
from workbench.core.measure.experiment import BlockExperiment
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.measure.pace import Pace, shortened
from workbench.core.measure.pairs import cycle_log_ratios
from workbench.core.measure.regime import CONFIDENCE, MIN_ROUNDS
from workbench.core.measure.sequential import interval, planned_look
from workbench.core.measure.surroundings import Surroundings
from workbench.core.measure.verdict import Criteria, is_enough, judge
from workbench.core.text import shorten


class Measuring(BlockExperiment):
    """A comparison in progress."""

    def __init__(
        self,
        request: CompareRequest,
        candidates: tuple[Candidate, ...],
        surroundings: Surroundings,
        *,
        began: float,
        on_progress: OnProgress = lambda _: None,
    ) -> None:
        super().__init__(request, request.budget_s or DEFAULT_BUDGET_S, on_progress)
        self.surroundings = surroundings
        self.began = began
        self.evidence = RoundsEvidence(request, candidates)
        self.verdicts: tuple[Verdict, ...] = ()
        self.was_stopped = False  # on request, with an interval
        self.took_longer = False  # than the default budget, since the answer was open
        self._longest_s = 0.0
        self._looks: dict[str, tuple[int, ...]] = {}  # rounds at which a verdict was final, by label
        if request.earlier is not None:
            self.rounds = last_round(request.earlier)
            self.budget_s += request.earlier.protocol.elapsed_s
            self._looks = final_looks(request.earlier.verdicts)
        self._passes = 0  # over all configs; several rounds per pass if memory is short
        self._settled: dict[str, Verdict] = {}  # by label
        self._costs_s: list[float] = []  # of the passes that were not shortened
        self._round_s: float | None = None
        self._pace = Pace(0.0)
        self._least_sampling_s = min(SAMPLING_S * len(candidates), self.budget_s)

    def run(self) -> None:
        """Measure round after round and check the verdicts after each."""
        try:
            self.run_until(self._is_last, self._pass)
        except Cancelled:
            if not self.request.until_decided or self._missing_rounds > 0:
                raise
            self.was_stopped = True
        self.verdicts = self._judge(final=True)

    def _is_last(self) -> bool:
        """Judge after a round; return whether measuring ends."""
        if self._pace.share == 1.0:
            self._costs_s.append(self.pass_s)
        if self.request.budget_s is None and not self.took_longer:
            self.budget_s = default_budget_s(self.evidence.run("A").latency.median_s, min(self._costs_s))
            self.budget_s *= 1.0 if self.request.goal is None else self.request.goal.patience
        self._round_s = median(self._costs_s)
        self._pace = self._next_pace()
        out_of_time = self.elapsed_s + self._pace.round_s > self.ends_s and not self._must_go_on()
        self.verdicts = self._judge(final=out_of_time)
        if out_of_time and self._may_take_longer(self._round_s):
            self._take_longer()
            out_of_time = False
        self.report("judging")
        settled = {verdict.label: verdict for verdict in self.verdicts if self._is_enough(verdict)}
        self._settled = settled | self._settled
        return out_of_time or self._is_settled()

    def _next_pace(self) -> Pace:
        """Return how long the next rounds may take so that a given budget holds the rounds of an interval."""
        missing, first_s = self._missing_rounds, self._costs_s[0]
        left_s = self.ends_s - self.elapsed_s
        if self.request.budget_s is None or missing <= 0 or missing * first_s <= left_s:
            return Pace(median(self._costs_s))
        runs = [self.evidence.run(label) for label in self.request.labels]
        first = [process for run in runs for process in run.processes[-self._passes :][:1]]
        return shortened(first_s, first, left_s / missing)

    @property
    def _missing_rounds(self) -> int:
        """Return how many rounds an interval needs beyond those measured, of the config with the fewest."""
        labels = [candidate.label for candidate in self.evidence.alive() if candidate.label != "A"]
        return MIN_ROUNDS - min(len(self.evidence.run(label).processes) for label in labels or ["A"])

    @property
    def _needed_s(self) -> float | None:
        """Return the seconds that the rounds of an interval take, where the budget is too short for them."""
        missing = self._missing_rounds
        if self._round_s is None or missing <= 0:
            return None
        needed_s = self.elapsed_s + missing * self._pace.round_s
        return needed_s if needed_s > self.ends_s else None

    def _is_settled(self) -> bool:
        """Return whether more rounds would change nothing that was asked for."""
        goal = self.request.goal
        if goal is not None and self.evidence.failure("A") is None:
            return goal.is_reached(self.evidence.run("A", self.evidence.population()))
        return len(self._settled) == len(self.verdicts)

    @property
    def ends_s(self) -> float:
        """Return the seconds after which measuring ends, settled or not."""
        return self._longest_s if self.took_longer else self.budget_s

    def _may_take_longer(self, round_s: float) -> bool:
        """Return whether a verdict is open after the default budget, and the rounds of another look fit."""
        asked = self.request
        if not asked.until_decided or asked.budget_s is not None or self.took_longer:
            return False
        open_rounds = [verdict.rounds for verdict in self.verdicts if self._is_open(verdict)]
        fastest_s = min(self.evidence.run("A").latency.samples_s, default=None)  # load makes others slower
        self._longest_s = longest_s(self.budget_s, fastest_s)
        more = (self._longest_s - self.elapsed_s) // round_s
        return bool(open_rounds) and more > max(planned_look(rounds) - rounds for rounds in open_rounds)

    def _take_longer(self) -> None:
        """Go on as `measure_more` does: the looks at these verdicts are spent. Decided ones are settled."""
        self.took_longer = True
        self._looks = final_looks(self.verdicts)
        self._settled |= {verdict.label: verdict for verdict in self.verdicts if not self._is_open(verdict)}

    def _is_open(self, verdict: Verdict) -> bool:
        return verdict.kind == "unknown" and not self._has_failed(verdict.label)

    def _has_failed(self, label: str) -> bool:
        return self.evidence.failure(label) is not None or self.evidence.failure("A") is not None

    def _pass(self) -> None:
        compares = self.request.earlier is None and len(self.request.configs) > 1
        with_outputs = compares and (self._passes == 0 or self._must_repeat())
        self._passes += 1
        for group in self.groups(self.evidence.alive()):
            next_round = self.block_round(
                sampling_s=self._sampling_s(), with_outputs=with_outputs, share=self._pace.share
            )
            self.evidence.add(next_round.run(group))
            if self.evidence.failure("A") is not None:
                break
        failure = self.evidence.failure("A")
        if failure is not None and not self.evidence.has_samples() and not self.evidence.alive():
            raise RunFailed(f"{shorten(self.request.model_name)}: {failure.problem}", failure.fix)

    def _sampling_s(self) -> float:
        """Return the time to sample in the next round."""
        goal, least_s = self.request.goal, self._least_sampling_s
        return least_s if goal is None else goal.sampling_s(self.evidence.run("A"), least_s)

    def _must_go_on(self) -> bool:
        """Return whether another round is measured whatever the time: for outputs, or for an interval."""
        needs_interval = self.request.until_decided and self.request.budget_s is None
        return self._must_repeat() or (needs_interval and self._missing_rounds > 0)

    def _must_repeat(self) -> bool:
        """Return whether differing outputs need a second process: the operator may be random."""
        return self.request.earlier is None and self._passes == 1 and self.evidence.outputs_differ()

    def _judge(self, *, final: bool) -> tuple[Verdict, ...]:
        verdicts = []
        for label in self.request.labels[1:]:
            failures = ((name, self.evidence.failure(name)) for name in (label, "A"))
            reason = next((failure.of(name) for name, failure in failures if failure is not None), None)
            pairs, criteria = self.evidence.pairs(label), self._criteria(label)
            verdict = judge(label, pairs, self.evidence.agreement, criteria, final=final, failure=reason)
            settled = self._settled.get(label) if self.took_longer and reason is None else None
            if settled and verdict.kind == "unknown":
                verdict = replace(settled, looks=(*criteria.looks, verdict.rounds))  # this look counts, too
            verdicts.append(verdict)
        return tuple(verdicts)

    def _provisional(self, verdict: Verdict) -> Verdict:
        """Return the verdict for a report; before the first look its interval is that of the cycles."""
        if not verdict.provisional or verdict.rounds >= MIN_ROUNDS:
            return verdict
        partners = {process.round: process for process in self.evidence.run(verdict.label).processes}
        log_ratios = [
            log_ratio
            for process in self.evidence.run("A").processes
            if process.round in partners
            for log_ratio in cycle_log_ratios(process, partners[process.round], self.request.clock)
        ]
        estimate = interval(log_ratios, error=1 - CONFIDENCE)
        if estimate is None:
            return verdict
        low, ratio, high = (math.exp(end) for end in (estimate.low, estimate.middle, estimate.high))
        return replace(verdict, ratio=ratio, low=low, high=high)

    def _criteria(self, label: str) -> Criteria:
        return Criteria(
            smallest_effect=self.request.smallest_effect,
            population=self.evidence.population(),
            clock=self.request.clock,
            looks=self._looks.get(label, ()),
            round_s=self._round_s,
        )

    def _is_enough(self, verdict: Verdict) -> bool:
        pairs, criteria = self.evidence.pairs(verdict.label), self._criteria(verdict.label)
        return self._has_failed(verdict.label) or is_enough(pairs, criteria, narrow=not self.took_longer)

    def fraction(self) -> float | None:
        """Return the share of the time; the first round shows the cost of a round."""
        return None if self._round_s is None else super().fraction()

    def progress(self, doing: str) -> Progress:
        """Return the current step with the verdicts and the samples so far."""
        is_first = self._passes == 1 and self.request.earlier is None  # round of each group
        checks = is_first and doing not in ("sampling", "judging")  # outputs, before the first sample
        if (needed_s := self._needed_s) is not None and not self._must_go_on():
            short = f"{self.ends_s:g} s are too short for {MIN_ROUNDS} rounds, about {needed_s:.0f} s"
            doing = f"{short}: {doing}"
        return replace(
            super().progress(f"{doing}{self._so_far()}"),
            verdicts=tuple(map(self._provisional, self.verdicts)),
            samples=self.evidence.latest_samples(),
            step=self.request.step_in_words(STEP_CHECK if checks else STEP_MEASURE),
        )

    def _so_far(self) -> str:
        """Return how long it takes, or what is decided and what is open, in brackets."""
        if not self.request.until_decided or self.request.budget_s is not None:
            return ""
        if self._round_s is None:
            return f" (about {DEFAULT_BUDGET_S:.0f} s, up to a minute more while the answer is open)"
        if not self.took_longer:
            return ""
        opened = [verdict.label for verdict in self.verdicts if verdict.label not in self._settled]
        settled = [verdict.label for verdict in self.verdicts if verdict.label in self._settled]
        decided = [label for label in settled if not self._has_failed(label)]
        known = f"{', '.join(decided)} decided, " if decided else ""
        return f" ({known}{', '.join(opened)} open, so it takes longer)"
