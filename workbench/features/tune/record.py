"""A study: the search of the best config for a goal, with every config that was considered."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from statistics import fmean
from typing import Literal

from workbench.core.bundle.comparison import ComparisonRecord, Verdict
from workbench.core.bundle.display import DataFrame, config_in_words, data_frame, typed, values_of
from workbench.core.bundle.goal import OBJECTIVES, Goal, Objective
from workbench.core.bundle.kinds import check_comparison
from workbench.core.bundle.origin import Origin, check_id
from workbench.core.bundle.run import Run
from workbench.core.config import Config
from workbench.core.errors import BundleError
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import bounded, counted, factor, factor_ends, quoted
from workbench.features.load.record import LoadTestRecord, check_load_test
from workbench.features.tune.space import Space

Stage = Literal["default", "one change", "combined", "on the leader", "sampled"]
State = Literal["measured", "same", "refused", "failed", "outputs differ", "limit", "not tried"]
OBJECTIVE_WORDS: dict[Objective, str] = {
    **{name: name for name in OBJECTIVES},
    "p99": "99th percentile of the latency",
    "memory": "peak memory",
    "load": "load time",
}


@dataclass(frozen=True, slots=True)
class ObjectiveRatio:
    """How many times as good as the default a config is in one objective; 1.02: 2 % better."""

    objective: Objective
    ratio: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RoundRate:
    """The answers a second of one round under load."""

    round: int
    per_second: float


@dataclass(frozen=True, slots=True)
class StudyCandidate:
    """One config that was considered. `ratio`: the default's value of the objective over its own.

    The interval is of the rounds that selected, so the best of many looks better than it is: only the
    confirmation is a fair comparison.
    """

    label: str
    config: Config
    stage: Stage
    state: State
    reason: str  # why it is out, or what it was measured for
    same_as: str | None  # the label of the config that is the same to ORT
    ratio: float | None
    low: float | None
    high: float | None
    rounds: int
    file_bytes: int | None
    prepare_s: float | None
    accuracy: float | None  # share; None: not evaluated
    accuracy_change: float | None  # against the default; negative: worse
    error: float | None  # root mean square over that of the default's output
    further: tuple[ObjectiveRatio, ...] = ()  # in the objectives after the first
    rates: tuple[RoundRate, ...] = ()  # under load; empty: throughput is no objective

    @property
    def rate(self) -> float | None:
        """The answers a second under load."""
        return fmean(rate.per_second for rate in self.rates) if self.rates else None

    @property
    def is_in(self) -> bool:
        """Return whether it was measured and keeps every limit."""
        return self.state == "measured" and self.rounds > 0


@dataclass(frozen=True, slots=True)
class StudyRecord:
    """The search: its goal, its space, every candidate, and the winner measured on fresh rounds."""

    id: str
    created_utc: str
    objective: Objective
    goal: Goal
    space: Space
    budget_s: float
    elapsed_s: float
    candidates: tuple[StudyCandidate, ...]  # the default first
    selection: ComparisonRecord  # the rounds that selected; A is the default
    confirmations: tuple[ComparisonRecord, ...]  # the default against a winner, the last one last
    winner: str  # the label that the selection chose
    best: str  # the label of the answer: the winner if it was confirmed, else the default
    ended: str  # why it ended, in a sentence
    further: tuple[Objective, ...] = ()  # objectives after the first: they span the front
    callers: int = 1  # at once, where throughput is an objective
    proof: Verdict | None = None  # of the winner, in the objective, on fresh measurements
    under_load: LoadTestRecord | None = None  # the fresh measurements where the objective is throughput

    def candidate(self, label: str) -> StudyCandidate:
        """Return the candidate of this label."""
        return next(candidate for candidate in self.candidates if candidate.label == label)

    @property
    def asked_s(self) -> float:
        """The seconds of measuring that were asked for."""
        return self.budget_s

    @property
    def best_config(self) -> Config:
        """The answer."""
        return self.candidate(self.best).config

    @property
    def confirmation(self) -> ComparisonRecord | None:
        """The default against the answer, on rounds measured after the choice; None: the default won."""
        chosen = self.candidate(self.winner).config
        last = self.confirmations[-1] if self.confirmations else None
        return last if last is not None and last.runs[-1].config == chosen else None

    @property
    def verdict(self) -> Verdict | None:
        """The verdict of the confirmation on the latency."""
        return None if self.confirmation is None else self.confirmation.verdict

    def run(self, label: str) -> Run | None:
        """Return the run of the selection with this label."""
        return next((run for run in self.selection.runs if run.label == label), None)

    def count(self, *states: State) -> int:
        """Return how many candidates are in one of these states."""
        return sum(candidate.state in states for candidate in self.candidates[1:])

    @property
    def headline(self) -> str:
        """The answer in one sentence."""
        count = self.count("measured", "limit", "outputs differ", "failed")
        tried = f"{counted(count, 'config')} measured"
        name, verdict = self.selection.model.name, self.verdict
        if self.best == self.candidates[0].label:
            proven = "the defaults are best" if self.winner == self.best else "nothing is proven to be better"
            return f"{name}: {proven} ({tried}); {self.ended}"
        config = config_in_words(self.best_config)
        if verdict is None or (verdict.bound is None and self.objective == "latency"):
            return f"{name}: {config} is best ({tried}); {self.ended}"
        interval = factor_ends(verdict.low, verdict.high, f"{verdict.confidence_text} CI ")
        if self.objective == "latency":
            return f"{name}: {config} is {speed_in_words(verdict)}{interval}; {tried}; {self.ended}"
        speed = speed_in_words(verdict)
        if verdict.ratio is not None:
            speed = f"at {factor(verdict.ratio, verdict.low, verdict.high)}{interval} the speed"
        goal = ", ".join(filter(None, (f"{self._gain} in {self.objective_in_words}", speed)))
        return f"{name}: {config} is {goal}; {tried}; {self.ended}"

    @property
    def objective_in_words(self) -> str:
        """The first objective in words."""
        callers = f" with {counted(self.callers, 'caller')}" if self.objective == "throughput" else ""
        return OBJECTIVE_WORDS[self.objective] + callers

    @property
    def _gain(self) -> str:
        proof = self.proof
        if proof is None or proof.bound is None:
            return "best"
        if proof.ratio is None:
            return f"{bounded(proof.low, proof.high)} better"
        interval = factor_ends(proof.low, proof.high, f"{proof.confidence_text} CI ")
        return f"{factor(proof.ratio, proof.low, proof.high)} better{interval}"

    def to_frame(self) -> DataFrame:
        """Return one row per candidate, the best first."""
        rows = []
        has_rates = any(candidate.rates for candidate in self.candidates)
        for candidate in sorted(self.candidates, key=_order):
            run = self.run(candidate.label)
            rows.append(
                {
                    "label": candidate.label,
                    "config": config_in_words(candidate.config),
                    **values_of(candidate, "stage", "state", "ratio", "low", "high", "rounds"),
                    **{f"{row.objective}_ratio": row.ratio for row in candidate.further},
                    **({"rate_hz": candidate.rate} if has_rates else {}),
                    "median_s": None if run is None else run.latency.median_s,
                    **values_of(run, "load_s", "peak_rss_bytes"),
                    **values_of(candidate, "file_bytes", "accuracy", "accuracy_change", "error", "prepare_s"),
                    "best": candidate.label == self.best,
                    "reason": candidate.reason,
                }
            )
        return typed(data_frame(rows)).astype(
            dict.fromkeys(("accuracy", "accuracy_change", "error"), "float64")
        )

    def __str__(self) -> str:
        lines = [self.headline]
        for candidate in sorted(self.candidates[1:], key=_order)[:MOST_LINES]:
            ratio = candidate.ratio
            speed = "" if ratio is None else f"{factor(ratio, candidate.low, candidate.high)} "
            lines.append(
                f"- {candidate.label}: {speed}{config_in_words(candidate.config)}"
                + (f" ({candidate.reason})" if candidate.reason else "")
            )
        more = len(self.candidates) - 1 - MOST_LINES
        return "\n".join([*lines, *([f"… and {more} more in the table"] if more > 0 else [])])


MOST_LINES = 8
MOST_RATE = 1e9  # answers a second: more than any machine gives


def _order(candidate: StudyCandidate) -> tuple[bool, float, str]:
    return (not candidate.is_in, -(candidate.ratio or 0.0), candidate.label)


def about_study(record: StudyRecord) -> Origin:
    """Return the origin of a study from its own fields."""
    measured = record.selection
    return Origin(
        record.id,
        record.created_utc,
        measured.model,
        record.best_config,
        measured.inputs,
        measured.machine,
        measured.versions,
    )


def check_study(record: StudyRecord, fix: str) -> None:
    """Refuse a record that no study could have made."""
    check_id(record.id, fix)
    for comparison in (record.selection, *record.confirmations):
        check_comparison(comparison, fix)
    labels = [candidate.label for candidate in record.candidates]
    if not labels or len(set(labels)) != len(labels):
        raise BundleError("candidates: expected one or more, each with its own label.", fix)
    for name in ("winner", "best"):
        if getattr(record, name) not in labels:
            raise BundleError(f"{name}: there is no candidate {quoted(getattr(record, name))}.", fix)
    if record.under_load is not None:
        check_load_test(record.under_load, fix)
    for run in record.selection.runs:
        if run.label not in labels:
            raise BundleError(f"selection: the run {quoted(run.label)} is of no candidate.", fix)
    for at, candidate in enumerate(record.candidates):
        for row in (candidate, *candidate.further):
            for name in ("ratio", "low", "high"):
                value = getattr(row, name)
                if value is not None and not 0 < value < inf:
                    raise BundleError(f"candidates[{at}].{name}: expected a positive number.", fix)
        if any(not 0 < rate.per_second < MOST_RATE for rate in candidate.rates):
            raise BundleError(f"candidates[{at}].rates: expected rates above 0.", fix)
