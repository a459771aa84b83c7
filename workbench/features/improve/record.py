"""The improvement of a config: the fixes and the search, each trial with its prediction and measurement."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import DataFrame, config_in_words, frame_of
from workbench.core.bundle.estimate import Estimate
from workbench.core.bundle.goal import Goal
from workbench.core.bundle.kinds import check_comparison
from workbench.core.config import Config
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import WIDE, counted, factor, factor_ends
from workbench.features.findings.record import FindingRecord, FindingsRecord, check_findings
from workbench.features.tune.record import StudyCandidate, StudyRecord, check_study

MOST_SEARCHED = 8  # configs of the search in the printed text


@dataclass(frozen=True, slots=True)
class ImprovementStep:
    """One fix that was tried."""

    finding: FindingRecord
    kept: bool
    reason: str
    ratio: float | None  # the measured speed-up; None: not measured
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One fix or one config of the search: what was predicted, what was measured, whether it was kept."""

    way: Literal["fix", "search"]
    finding: str  # the id of the rule; empty: no finding proposed it
    title: str
    kept: bool
    predicted: float | None  # speed-up; None: nothing was predicted
    predicted_text: str
    measured: Estimate  # times as fast as the config before the fix, or as the one the search began with
    reason: str

    @classmethod
    def of_step(cls, step: ImprovementStep) -> Trial:
        """Return a fix."""
        gain = step.finding.gain
        return cls(
            "fix", step.finding.id, step.finding.title, step.kept, gain.speed_up, gain.factor,
            Estimate.of(step), step.reason,
        )  # fmt: skip

    @classmethod
    def of_candidate(cls, candidate: StudyCandidate, finding: FindingRecord | None, *, kept: bool) -> Trial:
        """Return a config of the search, and the finding that proposed it, if one did."""
        gain = None if finding is None else finding.gain
        return cls(
            "search", "" if finding is None else finding.id, config_in_words(candidate.config), kept,
            None if gain is None else gain.speed_up, "" if gain is None else gain.factor,
            Estimate.of(candidate), candidate.reason,
        )  # fmt: skip

    @property
    def measured_text(self) -> str:
        """Return the measured speed-up in words; a wide interval around 1 tells nothing."""
        measured = self.measured
        low, high = measured.low, measured.high
        if measured.value is not None and (low is None or (high and low <= 1 <= high and high / low > WIDE)):
            return "not settled"
        return measured.factor or "not measured"

    def __str__(self) -> str:
        numbers = [f"predicted {self.predicted_text}"] if self.predicted_text else []
        if self.way == "search" and self.measured.value is not None:
            numbers.append(f"measured {self.measured_text}")
        reason = "; ".join([*numbers, *([self.reason] if self.reason else [])])
        return f"{'kept' if self.kept else 'not kept'}: {self.title}. {reason}".rstrip(". ") + "."


@dataclass(frozen=True, slots=True)
class ImprovementRecord:
    """The path from the first config to the last. `comparison`: both configs, measured again."""

    model_name: str
    start: Config
    config: Config
    steps: tuple[ImprovementStep, ...]
    skipped: tuple[str, ...]  # untried findings, each with the reason
    ended: str  # why the improvement ended
    comparison: ComparisonRecord | None  # None: nothing better is proven
    limits: Goal = field(default_factory=Goal)
    search: StudyRecord | None = None  # around the config that the fixes gave; None: nothing was searched
    searched: tuple[FindingRecord, ...] = ()  # findings whose fixes took part in the search
    findings: FindingsRecord | None = None  # under the first config; None: it ended before them

    @property
    def kept(self) -> tuple[ImprovementStep, ...]:
        """Return the fixes in the final config."""
        return tuple(step for step in self.steps if step.kept)

    @property
    def found(self) -> StudyCandidate | None:
        """Return the config of the search that is the answer; None: the search has no part in it."""
        if self.search is None or self.comparison is None:
            return None
        others = self.search.candidates[1:]
        return next((candidate for candidate in others if candidate.config == self.config), None)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """Return all that was tried: the fixes in their order, then what was searched, the best first."""
        fixes = map(Trial.of_step, self.steps)
        candidates = () if self.search is None else self.search.candidates[1:]
        by_config = {finding.fix.config: finding for finding in self.searched}
        ranked = sorted(candidates, key=lambda candidate: (not candidate.is_in, -(candidate.ratio or 0.0)))
        return (
            *fixes,
            *(
                Trial.of_candidate(row, by_config.get(row.config), kept=row == self.found)
                for row in ranked
                if row.state not in ("same", "not tried")
            ),
        )

    @property
    def tried_in_words(self) -> str:
        """Return how many fixes were tried, how many were kept, and how many configs were searched."""
        fixes = len(self.steps)
        words = f"{fixes} fix{'es' * (fixes != 1)} tried, {len(self.kept)} kept"
        return (
            words
            if self.search is None
            else f"{words}; {counted(len(self.trials) - fixes, 'config')} searched"
        )

    @property
    def headline(self) -> str:
        """Return the total gain in one sentence."""
        tried = self.tried_in_words
        if self.comparison is None:
            words = f"nothing was found that helps ({tried})" if self.trials else "nothing was tried"
            return f"{self.model_name}: {words}"
        verdict = self.comparison.verdict
        if verdict.ratio is None:
            return f"{self.model_name}: {speed_in_words(verdict) or verdict.kind} ({tried})"
        interval = factor_ends(verdict.low, verdict.high, f"{verdict.confidence_text} CI ")
        speed_up = f"{factor(verdict.ratio, verdict.low, verdict.high)}{interval} as fast as before"
        return f"{self.model_name}: {verdict.kind}, {speed_up} ({tried})"

    def to_frame(self) -> DataFrame:
        """Return one row per trial: way, finding, title, kept, predicted, measured, low, high, reason."""
        ends = ("measured.value", "measured.low", "measured.high")
        attributes = ("way", "finding", "title", "kept", "predicted", *ends, "reason")
        numbers = ("predicted", "measured", "low", "high")
        return frame_of(self.trials, attributes, numbers, {"measured.value": "measured"})

    def __str__(self) -> str:
        lines = [self.headline]
        if self.comparison is not None:
            lines.append(f"config: {config_in_words(self.config)}")
        fixes = [trial for trial in self.trials if trial.way == "fix"]
        searched = [trial for trial in self.trials if trial.way == "search"]
        lines += [f"- {trial}" for trial in (*fixes, *searched[:MOST_SEARCHED])]
        if len(searched) > MOST_SEARCHED:
            lines.append(f"… and {len(searched) - MOST_SEARCHED} more configs in the table")
        return "\n".join([*lines, *(f"- not tried: {text}" for text in self.skipped), self.ended])


def check_improvement(record: ImprovementRecord, fix: str) -> None:
    """Refuse a record that no improvement could have made."""
    if record.comparison is not None:
        check_comparison(record.comparison, fix)
    if record.search is not None:
        check_study(record.search, fix)
    if record.findings is not None:
        check_findings(record.findings, fix)
