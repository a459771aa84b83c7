"""An improvement in progress: fixes, their proof, the search around them, the proof of what it found."""

from __future__ import annotations

import time
from dataclasses import replace

from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError
from workbench.core.measure.bar import bar
from workbench.core.measure.continuing import last_round
from workbench.core.measure.measured_again import Ends, contradiction, verdict_after
from workbench.features.accuracy.acceptance import outputs_beyond
from workbench.features.compare.result import Comparison
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.record import FindingRecord, FindingsRecord
from workbench.features.findings.result import Finding, Findings
from workbench.features.improve.judging import (
    Kept,
    Proof,
    beyond_limits,
    judged,
    limits_in_words,
    proven_steps,
    why_unproven,
)
from workbench.features.improve.record import ImprovementRecord, ImprovementStep
from workbench.features.improve.request import ImproveRequest, space_around, why_not_tried
from workbench.features.tune.entries import BASELINE
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.study import run_study

STEP_S = 15.0  # the most that one fix may take
LEAST_TRIAL_S = 6.0  # about three rounds of a small model; less is no measurement
TRIAL_SHARE = 0.6  # of the time that is left; the rest measures the last config against the first
FIX_SHARE = 0.6  # of the budget, after which fixes that were not tried race each other in the search
PROOF_SHARE = 0.25  # of the time that is left, to measure the fixes again before the search
LEAST_SEARCH_S = 20.0  # less decides nothing between ten configs


class Improving:
    """Runs an improvement; what is proven so far outlives a cancel."""

    def __init__(self, request: ImproveRequest) -> None:
        self._request = request
        self._current = request.start
        self._steps: list[ImprovementStep] = []
        self._fixes: list[FixResult] = []  # that were kept
        self._skipped: dict[str, str] = {}  # id of a finding → why its fix was not tried
        self._found: FindingsRecord | None = None  # under the first config
        self._left: list[FindingRecord] = []  # findings of the current config, for the search
        self._first: Kept | None = None  # the limits of the first config, as far as it was measured
        self._proof: Proof | None = None
        self._search: StudyRecord | None = None
        self._ended: list[str] = []
        self._tell = request.on_step or (lambda _: None)  # beside the bars of what is measured

    def run(self) -> None:
        """Try the fixes, prove them, search, prove again; a cancel ends it, unless nothing was measured."""
        try:
            self._try_fixes()
            if self._fixes:
                self._prove_fixes()
            self._search_around()
        except (Cancelled, KeyboardInterrupt) as stop:
            self._ended.append("It was stopped; what was proven by then is kept.")
            if not self.has_measured or isinstance(stop, KeyboardInterrupt):
                raise

    @property
    def has_measured(self) -> bool:
        """Return whether a fix or a config of the search was measured."""
        return bool(self._steps) or self._search is not None

    @property
    def _left_s(self) -> float:
        return self._request.until - time.monotonic()

    # Fixes

    def _try_fixes(self) -> None:
        """Try the most promising fix of the current config again and again, until none or no time is left."""
        budget_s = self._left_s
        tried: set[str] = set()
        while True:
            findings = self._request.findings_of(self._current)
            self._found = self._found or findings.record
            candidates = self._candidates(findings, tried)
            self._left = [finding.record for finding in candidates]
            if not candidates:
                self._ended.append("No other fix is left to try.")
                return
            trial_s = TRIAL_SHARE * self._left_s
            used_s = budget_s - self._left_s
            leaves_search = self._left_s - LEAST_SEARCH_S >= LEAST_SEARCH_S
            if trial_s < LEAST_TRIAL_S or (used_s > FIX_SHARE * budget_s and leaves_search):
                self._ended.append("The budget is spent." if trial_s < LEAST_TRIAL_S else "")
                for finding in candidates:
                    self._skipped[finding.record.id] = (
                        f"{finding.record.headline}; there was no time to try it"
                    )
                return
            tried.add(candidates[0].record.id)
            self._try(candidates[0], min(STEP_S, trial_s))

    def _candidates(self, findings: Findings, tried: set[str]) -> list[Finding]:
        """Return the findings that can be tried, the most promising first; note why others were not."""
        candidates = []
        for finding in findings:
            record = finding.record
            if record.id in tried:
                continue
            if why := why_not_tried(self._request, record, finding.config):
                self._skipped[record.id] = f"{record.headline}; {why}"
            else:
                self._skipped.pop(record.id, None)
                candidates.append(finding)
        return candidates

    def _try(self, finding: Finding, budget_s: float) -> None:
        """Measure a fix; keep it where it is better within the limits."""
        request = self._request
        self._tell(f"trying {finding.record.title}")
        result = finding.try_fix(budget_s, progress=request.progress, cancel=request.cancel, keep=False)
        self._saw(result.comparison)
        result = judged(result, request.evaluate, request.limits)
        verdict = result.comparison.verdict
        self._steps.append(
            ImprovementStep(
                result.finding, result.kept, result.reason, verdict.ratio, verdict.low, verdict.high
            )
        )
        self._current = result.config
        if result.kept:
            self._fixes.append(result)
            if len(self._fixes) == 1 and not beyond_limits(result.comparison, request.limits, self._first):
                self._proof = Proof(result.config, result.comparison, 1)

    # Proof

    def _prove_fixes(self) -> None:
        """Measure the first config and the last one again; a single fix in further rounds of its own."""
        request, fixes = self._request, self._fixes
        self._tell("measuring the first config and the last one again")
        left_s = max(LEAST_TRIAL_S, self._left_s)
        if left_s * (1 - PROOF_SHARE) >= LEAST_SEARCH_S:
            left_s = max(LEAST_TRIAL_S, left_s * PROOF_SHARE)
        if len(fixes) == 1:
            first = fixes[0].comparison
            comparison = first.measure_more(
                budget_s=left_s, progress=request.progress, cancel=request.cancel, keep=request.keep
            )
            again = verdict_after(comparison.record, last_round(first.record))
        else:
            comparison = self._compare(self._current, left_s, request.seed + 1)
            again = comparison.verdict
        gains = [(step.ratio, step.low, step.high) for step in self._steps if step.kept]
        self._proof = None
        if reason := self._unproven(contradiction(gains, again), comparison):
            self._ended.append(reason)
            self._steps = [replace(step, kept=False) for step in self._steps]
            self._current = request.start
        else:
            self._proof = Proof(self._current, comparison, len(fixes))

    def _compare(self, config: Config, budget_s: float, seed: int) -> Comparison:
        comparison = self._request.compare_with_start(config, budget_s, seed)
        self._saw(comparison)
        return comparison

    def _unproven(self, contradicted: str, comparison: Comparison) -> str:
        return why_unproven(contradicted, comparison, self._request.limits, self._first)

    def _saw(self, comparison: Comparison) -> None:
        """Note the limits of the first config where it was measured."""
        record = comparison.record
        if record.runs[0].config == self._request.start:
            self._first = Kept.of(self._request.limits, record, record.runs[0])

    # Search

    def _search_around(self) -> None:
        """Race configs around the current one; take the winner where it is proven against the first one."""
        request = self._request
        again_s = LEAST_TRIAL_S if self._fixes else 0.0  # to measure the answer against the first config
        budget_s = min(request.most_search_s, self._left_s - again_s)
        if budget_s < LEAST_SEARCH_S:
            self._ended.append("There was no time for a search: give it more.")
            return
        until = time.monotonic() + budget_s
        tried = {None, *(step.finding.fix.config for step in self._steps)}
        space = space_around(request, self._current, self._left, tried)
        if not space.axes and not space.starts:
            self._ended.append("The search had nothing else to vary.")
            return
        study = StudyRequest(
            model=request.model, inputs=request.inputs, space=space, base=self._current,
            goal=replace(request.limits, min_speedup=None),
            budget_s=max(LEAST_TRIAL_S, until - time.monotonic()),
            calibration=request.calibration, data=request.data, seed=request.seed + 2,
        )  # fmt: skip
        self._tell("searching around it")
        with bar(request.progress) as on_progress:
            try:
                self._search = run_study(
                    study, on_progress=on_progress, on_measured=self._keep_search, cancel=request.cancel
                )
            except ConfigError as error:  # nothing of the space may be tried
                self._ended.append(f"The search ended: {error.problem}.")
                return
        self._take_found(self._search)

    def _keep_search(self, record: StudyRecord) -> None:
        self._search = record

    def _take_found(self, search: StudyRecord) -> None:
        """Take the answer of the search where fresh measurements against the first config confirm it."""
        request, winner = self._request, search.best_config
        first, confirmed = search.selection.runs[0], search.confirmation
        if search.candidates[0].config == request.start:
            self._first = Kept.of(request.limits, search.selection, first)
        self._ended.append(f"The search: {search.ended}.")
        if search.best == BASELINE or confirmed is None:
            return
        if self._current == request.start:
            self._proof = Proof(winner, Comparison(confirmed), 0)
            return
        if winner.precision != self._current.precision and (
            lost := outputs_beyond(request.evaluate(winner), "B", request.limits)
        ):
            self._ended.append(f"What it found is not the answer: {lost}.")
            return
        self._tell("measuring the first config and the one that was found again")
        comparison = self._compare(winner, max(LEAST_TRIAL_S, self._left_s), request.seed + 5)
        verdict = confirmed.verdict
        gains: list[Ends] = [(step.ratio, step.low, step.high) for step in self._steps if step.kept]
        gains.append((verdict.ratio, verdict.low, verdict.high))
        if reason := self._unproven(contradiction(gains, comparison.verdict), comparison):
            self._ended.append(f"What the search found is not the answer. {reason}")
        else:
            self._proof = Proof(winner, comparison, len(self._fixes))

    # The record

    @property
    def record(self) -> ImprovementRecord:
        """Return what there is."""
        request, proof = self._request, self._proof
        candidates = () if self._search is None else self._search.candidates
        configs = {candidate.config for candidate in candidates}
        searched = tuple(finding for finding in self._left if finding.fix.config in configs)
        for finding in searched:
            self._skipped.pop(finding.id, None)
        return ImprovementRecord(
            model_name=request.model.name,
            start=request.start,
            config=request.start if proof is None else proof.config,
            steps=tuple(proven_steps(self._steps, proof)),
            skipped=tuple(self._skipped.values()),
            ended=" ".join(filter(None, [*self._ended, limits_in_words(request.limits, proof, self._first)])),
            comparison=None if proof is None else proof.comparison.record,
            limits=request.limits,
            search=self._search,
            searched=searched,
            findings=self._found,
        )
