"""The bench of a study on this machine: candidates in interleaved rounds, each in a fresh process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from workbench.core.background import check_cancel
from workbench.core.bundle.run import Run, label_of
from workbench.core.config import Config
from workbench.core.errors import RunFailed
from workbench.core.measure.candidate import Candidate
from workbench.core.measure.compare_request import SAMPLING_S
from workbench.core.measure.continuing import check_same_file, check_same_machine, last_round
from workbench.core.measure.evidence import RoundsEvidence
from workbench.core.measure.experiment import BlockExperiment
from workbench.core.measure.limits import OnProgress, Progress
from workbench.core.measure.surroundings import Surroundings
from workbench.core.worker.values import write_values
from workbench.features.tune.admission import Admission
from workbench.features.tune.entries import (
    BASELINE,
    Gains,
    StudyEntry,
    StudyTally,
    entries_of,
    measured_before,
)
from workbench.features.tune.objectives import Sides, limit_checks, round_of
from workbench.features.tune.record import Stage, State, StudyCandidate, StudyRecord
from workbench.features.tune.request import FileWatch, StudyRequest

SELECTION_SHARE = 0.7  # of the budget; the rest confirms
_FIRST = 3  # candidates that are measured even if little time is left for more
CONFIRM_ROUNDS = 5  # that the winner gets even if the selection took its time


class LocalBench(BlockExperiment):
    """Candidates of one study, measured on this machine."""

    def __init__(
        self,
        study: StudyRequest,
        surroundings: Surroundings,
        *,
        on_progress: OnProgress = lambda _: None,
        on_measured: Callable[[LocalBench], None] = lambda _: None,
    ) -> None:
        earlier_s = 0.0 if study.earlier is None else study.earlier.elapsed_s
        request = study.comparison(study.base, study.base, seed=study.seed)
        super().__init__(request, study.budget_s + earlier_s, on_progress)
        self.surroundings = surroundings
        self.began = surroundings.clock() - earlier_s
        self.entries: dict[str, StudyEntry] = {}
        self._study = study
        self._on_measured = on_measured
        self._cancel = surroundings.cancel
        self._costs_s: list[float] = []  # of a round, per process
        self._tally = StudyTally(study.objectives)
        self._doubtful: set[str] = set()  # beyond a limit as it looks, which is not settled
        self._files = FileWatch(study.model)
        self._feeds = surroundings.folder / "feeds"
        write_values(self._feeds, study.inputs.feeds)
        self._admission = Admission(study, self._feeds, cancel=self._cancel, on_step=self.report)
        self._limits = study.limits
        if study.earlier is not None:
            self.evidence = self._recall(study.earlier)
        else:
            self.admit(study.base, "default")
            self.evidence = RoundsEvidence(request, [self._admission.candidates[BASELINE]])

    @property
    def configs(self) -> dict[str, Config]:
        """Return the config of every candidate by label."""
        return {label: entry.config for label, entry in self.entries.items()}

    def start(self) -> None:
        """Measure the default alone: without it nothing can be judged."""
        self._round([])
        if (failure := self.evidence.failure(BASELINE)) is not None:
            raise RunFailed(f"the default config does not run: {failure.problem}", failure.fix)
        self._limits = self._study.limits_beside(self.evidence.run(BASELINE))

    def admit(self, config: Config, stage: Stage) -> str | None:
        """Prepare a config and check it; return its label, or None with the reason in its entry."""
        check_cancel(self._cancel)
        self._files.check()
        known = next((entry for entry in self.entries.values() if entry.config == config), None)
        if known is not None:
            return known.label if known.label in self._tally else None
        entry = StudyEntry(label_of(len(self.entries)), config, stage)
        self.entries[entry.label] = entry
        if (refusal := self._admission.refusal(entry)) is not None:
            self._out(entry, *refusal)
            return None
        if entry.label != BASELINE:
            self.evidence.admit(self._admission.candidates[entry.label])
        self._tally.admit(entry.label)
        return entry.label

    def measure(self, labels: Sequence[str]) -> None:
        """Measure one round of the default and these candidates, in groups that fit into memory."""
        for _, *group in self.groups([BASELINE, *labels]):
            self._round(group)
            while self._has_too_few_samples(group) and self.affords(len(group)):
                self._round(group)

    def _has_too_few_samples(self, labels: Sequence[str]) -> bool:
        """Return whether the objective is a percentile of more samples than a config has so far."""
        return self._study.objective == "p99" and not all(
            self._tally.is_measured(label) for label in labels if label in self._tally
        )

    @property
    def objectives(self) -> int:
        """Return their number; the first one chooses the winner, all keep a config in the race."""
        return len(self._study.objectives)

    def may_lead(self, label: str) -> bool:
        """Return whether a config looks as if it kept the limits."""
        return label not in self._doubtful

    def measured(self, label: str) -> Run:
        """Return what was measured of a config so far."""
        return self.evidence.run(label, self.evidence.population())

    def gains(self, at: int = 0) -> Gains:
        """Return the gains in one objective of the candidates that are still in."""
        return self._tally.gains(at)

    def time_anyway(self, most: int) -> dict[str, float]:
        """Time some configs beyond a limit of accuracy once; return their log gains."""
        beyond = [
            entry
            for entry in self.entries.values()
            if entry.accuracy.broken and entry.label in self._admission.candidates
        ][:most]
        for entry in beyond:
            self.evidence.admit(self._admission.candidates[entry.label])
            self._tally.admit(entry.label)
        if beyond:
            self._round([entry.label for entry in beyond])
        measured = self.gains()
        gains = {entry.label: measured.get(entry.label, {}).get(self.rounds) for entry in beyond}
        for entry in beyond:
            self._out(entry, "limit", entry.accuracy.broken or "")
        return {label: gain for label, gain in gains.items() if gain is not None}

    def affords(self, count: int, share: float = 1.0) -> bool:
        """Return whether a round of so many candidates fits this share of the time to select."""
        cost_s = median(self._costs_s) * (count + 1) if self._costs_s else 0.0
        if self.rounds < 2 and len(self.gains()) <= _FIRST:
            return self.elapsed_s + cost_s <= self.budget_s  # without any candidate there is no answer
        return self.elapsed_s + cost_s <= share * SELECTION_SHARE * self.budget_s

    @property
    def confirm_s(self) -> float:
        """Return the time to confirm the winner: what is left, and enough rounds for an interval."""
        return max(CONFIRM_ROUNDS * self.confirm_round_s, self.budget_s - self.elapsed_s)

    @property
    def confirm_round_s(self) -> float:
        """Return the time of a round of two configs."""
        return 2 * median(self._costs_s)

    def progress(self, doing: str) -> Progress:
        """Return the current step with the best so far."""
        best = self._tally.best_in_words(self.entries)
        return super().progress(doing if best is None else f"{doing}; best so far {best}")

    def candidates(self) -> tuple[StudyCandidate, ...]:
        """Return the record of every candidate, the default first."""
        return self._tally.records(self.entries.values(), self._rounds_of)

    def _rounds_of(self, label: str) -> int:
        return len(self.evidence.run(label).processes) if label in self.evidence.candidates else 0

    def _round(self, labels: Sequence[str]) -> None:
        check_cancel(self._cancel)
        self._files.check()
        began_s = self.elapsed_s
        group = [self._ready(label) for label in (BASELINE, *labels)]
        names = f"{len(labels)} candidates" if labels else "the default"
        next_round = self.block_round(
            sampling_s=SAMPLING_S * len(group),
            with_outputs=any(self._rounds_of(candidate.label) == 0 for candidate in group),
            limits=self._limits,
            on_step=lambda step: self.report(f"{names}, {step}"),
        )
        self.evidence.add(next_round.run(group))
        self._load(labels)
        self._costs_s.append((self.elapsed_s - began_s) / len(group))
        for label in (BASELINE, *labels):
            self._judge(self.entries[label])
        self._on_measured(self)

    def _load(self, labels: Sequence[str]) -> None:
        """Measure the throughput of those that run, if it is an objective."""
        if "throughput" not in self._study.objectives:
            return
        self.report(f"{len(labels) + 1} configs with {self._study.callers} callers")
        running = {
            label: self.entries[label].config
            for label in (BASELINE, *labels)
            if self.evidence.failure(label) is None
        }
        start_worker, seed = self.surroundings.start_worker, self._study.seed + self.rounds
        rates = round_of(self._study, running, seed=seed, cancel=self._cancel, start_worker=start_worker)
        for label, rate in rates.items():
            self.entries[label].rates[self.rounds] = rate

    def _judge(self, entry: StudyEntry) -> None:
        """Take what the round showed of one candidate: its gain, or why it is out."""
        label = entry.label
        entry.state = "measured"
        if (failure := self.evidence.failure(label)) is not None:
            self._out(entry, "failed", failure.in_words)
            return
        differing = [row for row in self.evidence.agreement if row.label == label and row.agrees is False]
        if differing:
            self._out(entry, "outputs differ", f"{differing[0].output}: {differing[0].reason}")
            return
        checks = [*limit_checks(self._study.goal, self.measured(label), entry.file_bytes, entry.rates)]
        (self._doubtful.add if any(limit.is_beyond for limit in checks) else self._doubtful.discard)(label)
        run = self.evidence.run(label, "all")
        if broken := [limit.check.reason for limit in checks if limit.check.passed is False]:
            self._out(entry, "limit", broken[0])
        elif label == BASELINE:
            self._tally.admit(label)
        elif label in self._tally:
            rates = self.entries[BASELINE].rates, entry.rates
            sides = Sides(self.sizes(label), rates, entry.accuracy.change, entry.accuracy.error)
            self._tally.take(label, self.evidence.run(BASELINE, "all"), run, sides)

    def sizes(self, label: str) -> tuple[int, int]:
        """Return the file sizes of the default and of this candidate."""
        own = self._study.model.file_bytes
        default, entry = self.entries[BASELINE], self.entries[label]
        return default.file_bytes or own, entry.file_bytes or own

    def _out(self, entry: StudyEntry, state: State, reason: str) -> None:
        entry.state, entry.reason = state, reason
        self._tally.drop(entry.label)

    def _ready(self, label: str) -> Candidate:
        """Return the candidate, prepared again if it was measured before the study was continued."""
        candidate = self._admission.candidates.get(label)
        if candidate is None:
            candidate = self._admission.prepared(self.entries[label])
            before = self.evidence.run(label).preparation
            if before is not None and candidate.preparation is not None:
                check_same_file(label, before, candidate.preparation)
            self.evidence.admit(candidate)
        return candidate

    def _recall(self, earlier: StudyRecord) -> RoundsEvidence:
        """Return the evidence of the rounds before the study was continued."""
        check_same_machine(earlier.selection.machine, self.surroundings.machine)
        self.entries = entries_of(earlier.candidates)
        self.rounds = last_round(earlier.selection)
        self.evidence = RoundsEvidence(
            replace(self.request, earlier=earlier.selection),
            measured_before(earlier.selection, self._study.model.path, self._feeds),
        )
        for entry in self.entries.values():
            if entry.state in ("measured", "not tried") and entry.label in self.evidence.candidates:
                self._tally.admit(entry.label)
            if entry.state == "measured":
                self._judge(entry)
        return self.evidence
