"""An improvement in progress: fixes, their proof, the search around them, the proof of what it found."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from workbench.core.bundle.goal import Goal
from workbench.core.config import Config
from workbench.core.errors import Cancelled, ConfigError
from workbench.core.measure.bar import bar
from workbench.core.measure.bar import steps as shown_steps
from workbench.core.measure.continuing import last_round
from workbench.core.measure.limits import Progress
from workbench.core.measure.measured_again import Ends, contradiction, verdict_after
from workbench.core.models import Inputs, Model
from workbench.features.accuracy.call import accuracy
from workbench.features.accuracy.record import AccuracyRecord
from workbench.features.compare.call import compare
from workbench.features.compare.result import Comparison
from workbench.features.findings.fix_result import FixResult
from workbench.features.findings.gather import gather
from workbench.features.findings.look import look
from workbench.features.findings.record import FindingRecord
from workbench.features.findings.result import Finding, Findings, FixTarget
from workbench.features.improve.judging import changes_arithmetic, judged, outputs_beyond
from workbench.features.improve.limits import Kept
from workbench.features.improve.record import ImprovementRecord, ImprovementStep
from workbench.features.tune.default_space import default_space
from workbench.features.tune.finding_axes import axis_of, change_of
from workbench.features.tune.record import StudyRecord
from workbench.features.tune.request import StudyRequest
from workbench.features.tune.space import Dimension, Space, merged
from workbench.features.tune.standings import BASELINE
from workbench.features.tune.study import run_study

STEP_S = 15.0  # the most that one fix may take
LEAST_S = 6.0  # about three rounds of a small model; less is no measurement
TRIAL_SHARE = 0.6  # of the time that is left; the rest measures the last config against the first
FIX_SHARE = 0.6  # of the budget, after which fixes that were not tried race each other in the search
PROOF_SHARE = 0.25  # of the time that is left, to measure the fixes again before the search
LEAST_SEARCH_S = 20.0  # less decides nothing between ten configs


@dataclass(frozen=True, slots=True, kw_only=True)
class ImproveRequest:
    """What to improve, within which limits, until when."""

    model: Model
    inputs: Inputs
    start: Config
    limits: Goal
    until: float  # on the clock of time.monotonic
    most_search_s: float
    without: tuple[str, ...] = ()
    data: Any = None
    calibration: Any = None
    seed: int = 0
    progress: bool | Callable[[Progress], None] = True
    cancel: threading.Event | None = None
    on_step: Callable[[str], None] | None = None
    keep: bool = True


@dataclass(frozen=True, slots=True)
class Proof:
    """A config that was measured better than the first one. `fixes`: how many of the kept ones it has."""

    config: Config
    comparison: Comparison
    fixes: int


class Improving:
    """Runs an improvement; what is proven so far outlives a cancel."""

    def __init__(self, request: ImproveRequest) -> None:
        self._request = request
        self._current = request.start
        self._steps: list[ImprovementStep] = []
        self._fixes: list[FixResult] = []  # that were kept
        self._skipped: dict[str, str] = {}  # id of a finding → why its fix was not tried
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
            found = self._look()
            candidates = self._candidates(found, tried)
            self._left = [finding.record for finding in candidates]
            if not candidates:
                self._ended.append("Nothing is left to try.")
                return
            trial_s = TRIAL_SHARE * self._left_s
            used_s = budget_s - self._left_s
            leaves_search = self._left_s - LEAST_SEARCH_S >= LEAST_SEARCH_S
            if trial_s < LEAST_S or (used_s > FIX_SHARE * budget_s and leaves_search):
                self._ended.append("The budget is spent." if trial_s < LEAST_S else "")
                for finding in candidates:
                    self._skipped[finding.record.id] = (
                        f"{finding.record.headline}; there was no time to try it"
                    )
                return
            tried.add(candidates[0].record.id)
            self._try(candidates[0], min(STEP_S, trial_s))

    def _look(self) -> Findings:
        """Return the findings of the current config."""
        request = self._request
        with shown_steps(request.on_step, request.progress) as report:
            report("looking for findings")
            evidence = gather(
                request.model, self._current, request.inputs, calibration=request.calibration,
                cancel=request.cancel, on_step=report,
            )  # fmt: skip
        target = FixTarget(request.model, request.inputs, request.calibration)
        return Findings.made({"A": look(evidence)}, None, target)

    def _candidates(self, found: Findings, tried: set[str]) -> list[Finding]:
        """Return the findings that can be tried, the most promising first; note why others were not."""
        candidates = []
        for finding in found:
            record = finding.record
            if record.id in tried:
                continue
            if why := self._not_tried(record, finding.config):
                self._skipped[record.id] = f"{record.headline}; {why}"
            else:
                self._skipped.pop(record.id, None)
                candidates.append(finding)
        return candidates

    def _not_tried(self, record: FindingRecord, config: Config) -> str:
        """Return why a fix is not tried; nothing if it is."""
        if record.is_small:
            return "predicted below the bar"
        if record.fix.config is None or record.fix.kind != "config":
            return f"to be done by hand: {record.fix.text}"
        if changes_arithmetic(record, config) and not self._request.limits.allows_other_arithmetic:
            return "it changes the arithmetic: give limits=wb.Goal(max_accuracy_drop=…) to try it"
        change = change_of(record, config)
        if change is not None and self._request.without:
            names = {axis_of(record, change), *change.changed()}
            fixed = [name for name in self._request.without if any(_is_of(name, axis) for axis in names)]
            if fixed:
                return f"it changes {fixed[0]}, which may not vary"
        return ""

    def _try(self, finding: Finding, budget_s: float) -> None:
        """Measure a fix; keep it where it is better within the limits."""
        request = self._request
        self._tell(f"trying {finding.record.title}")
        result = finding.try_fix(budget_s, progress=request.progress, cancel=request.cancel, keep=False)
        self._saw(result.comparison)
        result = judged(result, self._evaluate, request.limits)
        verdict = result.comparison.verdict
        self._steps.append(
            ImprovementStep(
                result.finding, result.kept, result.reason, verdict.ratio, verdict.low, verdict.high
            )
        )
        self._current = result.config
        if result.kept:
            self._fixes.append(result)
            if len(self._fixes) == 1 and not self._beyond(result.comparison):
                self._proof = Proof(result.config, result.comparison, 1)

    def _evaluate(self, config: Config) -> AccuracyRecord:
        """Set a config beside the first one, so that the drops of several changes add up."""
        request = self._request
        table = accuracy(
            request.model, request.start, config, data=request.data, calibration=request.calibration,
            progress=request.progress, cancel=request.cancel, keep=False,
        )  # fmt: skip
        return table.record

    # Proof

    def _prove_fixes(self) -> None:
        """Measure the first config and the last one again; a single fix in further rounds of its own."""
        request, fixes = self._request, self._fixes
        self._tell("measuring the first config and the last one again")
        left_s = max(LEAST_S, self._left_s)
        if left_s * (1 - PROOF_SHARE) >= LEAST_SEARCH_S:
            left_s = max(LEAST_S, left_s * PROOF_SHARE)
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
        request = self._request
        comparison: Comparison = compare(
            request.model, request.start, config, inputs=request.inputs, calibration=request.calibration,
            seed=seed, budget_s=budget_s, progress=request.progress, cancel=request.cancel, keep=request.keep,
        )  # fmt: skip
        self._saw(comparison)
        return comparison

    def _unproven(self, contradicted: str, comparison: Comparison) -> str:
        """Return why the last config is not the answer after it was measured again, or nothing."""
        after = comparison.runs[1]
        if contradicted:
            return (
                f"Two measurements contradict each other, so no fix is kept: {contradicted}. The machine "
                "changed in between; improve again when it is quiet."
            )
        if after.failure is not None:
            worse = f"it could not be run: {after.failure.problem}"
        elif comparison.verdict.kind == "outputs differ":
            worse = str(comparison).splitlines()[0]
        elif beyond := self._beyond(comparison):
            return f"It is not the answer: {beyond}."
        elif comparison.verdict.kind == "slower" and not self._first_breaks:
            worse = str(comparison).splitlines()[0]
        else:
            return ""
        return f"Measured anew, all kept fixes together are no gain, so none is kept: {worse}"

    # Limits

    def _saw(self, comparison: Comparison) -> None:
        """Note the limits of the first config where it was measured."""
        record = comparison.record
        if record.runs[0].config == self._request.start:
            self._first = Kept.of(self._request.limits, record, record.runs[0])

    @property
    def _first_breaks(self) -> bool:
        """Return whether the first config breaks a limit for sure."""
        return self._first is not None and bool(self._first.words(False))

    def _beyond(self, comparison: Comparison) -> str:
        """Return the limits that the second config breaks, or may break where the first one keeps all."""
        record = comparison.record
        kept = Kept.of(self._request.limits, record, record.runs[1])
        if broken := kept.words(False):
            return f"it breaks a limit: {broken}"
        unsettled = kept.words(None)
        if unsettled and self._first is not None and self._first.is_sure:
            return f"whether it keeps the limits is not settled: {unsettled}"
        return ""

    # Search

    def _search_around(self) -> None:
        """Race configs around the current one; take the winner where it is proven against the first one."""
        request = self._request
        again_s = LEAST_S if self._fixes else 0.0  # to measure the answer against the first config
        budget_s = min(request.most_search_s, self._left_s - again_s)
        if budget_s < LEAST_SEARCH_S:
            self._ended.append("There was no time to search around it.")
            return
        until, space = time.monotonic() + budget_s, self._space()
        if not space.axes and not space.starts:
            self._ended.append("The search had nothing else to vary.")
            return
        study = StudyRequest(
            model=request.model, inputs=request.inputs, space=space, base=self._current,
            goal=replace(request.limits, min_speedup=None),
            budget_s=max(LEAST_S, until - time.monotonic()),
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

    def _space(self) -> Space:
        """Return what may vary around the current config, without what was tried already."""
        request = self._request
        with shown_steps(request.on_step, request.progress) as report:
            space = default_space(
                request.model, request.inputs, base=self._current, goal=request.limits,
                calibration=request.calibration, findings=self._left, cancel=request.cancel, on_step=report,
            )  # fmt: skip
        fixed = [*request.without, *(["precision"] if self._has_other_arithmetic else [])]
        names = [axis.name for axis in space.axes]
        space = space.without(*(name for name in fixed if any(_is_of(name, axis) for axis in names)))
        known = {self._current, None, *(step.finding.fix.config for step in self._steps)}
        axes = (
            Dimension(axis.name, tuple(o for o in axis.options if merged(self._current, o) not in known))
            for axis in space.axes
        )
        starts = tuple(start for start in space.starts if merged(self._current, start) not in known)
        return Space(tuple(axis for axis in axes if axis.options), starts)

    @property
    def _has_other_arithmetic(self) -> bool:
        return self._current.precision != self._request.start.precision

    def _take_found(self, search: StudyRecord) -> None:
        """Take the answer of the search where fresh measurements against the first config confirm it."""
        request, found = self._request, search.best_config
        first, confirmed = search.selection.runs[0], search.confirmation
        if search.candidates[0].config == request.start:
            self._first = Kept.of(request.limits, search.selection, first)
        self._ended.append(f"The search: {search.ended}.")
        if search.best == BASELINE or confirmed is None:
            return
        if self._current == request.start:
            self._proof = Proof(found, Comparison(confirmed), 0)
            return
        if found.precision != self._current.precision and (
            lost := outputs_beyond(self._evaluate(found), request.limits)
        ):
            self._ended.append(f"What it found is not the answer: {lost}.")
            return
        self._tell("measuring the first config and the one that was found again")
        comparison = self._compare(found, max(LEAST_S, self._left_s), request.seed + 5)
        verdict = confirmed.verdict
        gains: list[Ends] = [(step.ratio, step.low, step.high) for step in self._steps if step.kept]
        gains.append((verdict.ratio, verdict.low, verdict.high))
        if reason := self._unproven(contradiction(gains, comparison.verdict), comparison):
            self._ended.append(f"What the search found is not the answer. {reason}")
        else:
            self._proof = Proof(found, comparison, len(self._fixes))

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
            steps=tuple(self._proven_steps()),
            skipped=tuple(self._skipped.values()),
            ended=" ".join(filter(None, [*self._ended, self._limits_in_words()])),
            comparison=None if proof is None else proof.comparison.record,
            limits=request.limits,
            search=self._search,
            searched=searched,
        )

    def _proven_steps(self) -> list[ImprovementStep]:
        """Return the steps; a kept fix that is not in the proven config is not kept."""
        room = 0 if self._proof is None else self._proof.fixes
        steps = []
        for step in self._steps:
            if step.kept and not room:
                step = replace(step, kept=False, reason=f"{step.reason}; it is not proven with the others")
            room -= step.kept
            steps.append(step)
        return steps

    def _limits_in_words(self) -> str:
        """Return what is to say about the limits and the answer."""
        limits, proof = self._request.limits, self._proof
        if proof is None:
            broken = "" if self._first is None else self._first.words(False)
            return (
                f"No config that was tried keeps the limits; the first one does not: {broken}."
                if broken
                else ""
            )
        record, verdict = proof.comparison.record, proof.comparison.verdict
        texts = []
        if self._first_breaks and self._first is not None:
            texts.append(f"The first config breaks a limit: {self._first.words(False)}.")
        if unsettled := Kept.of(limits, record, record.runs[1]).words(None):
            texts.append(f"Whether it keeps the limits is not settled: {unsettled}.")
        if limits.min_speedup is not None and (verdict.bound or 1.0) < limits.min_speedup:
            texts.append(
                f"The goal of {limits.min_speedup:.2f}× is not reached: it is {verdict.bound or 1.0:.2f}×."
            )
        return " ".join(texts)


def _is_of(name: str, axis: str) -> bool:
    """Return whether an axis is this setting or a value of it."""
    return axis == name or axis.startswith(f"{name}.")
