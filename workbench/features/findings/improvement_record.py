"""The improvement of a config fix by fix: each step with its prediction and its measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.core.bundle.comparison import ComparisonRecord
from workbench.core.bundle.display import frame_of
from workbench.core.config import Config
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import factor, factor_ends
from workbench.features.findings.record import FindingRecord

if TYPE_CHECKING:
    import pandas as pd


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
class ImprovementRecord:
    """The path from the first config to the last. `comparison`: both configs, measured again."""

    model_name: str
    start: Config
    config: Config
    steps: tuple[ImprovementStep, ...]
    skipped: tuple[str, ...]  # untried findings, each with the reason
    ended: str  # why the improvement ended
    comparison: ComparisonRecord | None  # None: no fix was kept

    @property
    def kept(self) -> tuple[ImprovementStep, ...]:
        """Return the fixes in the final config."""
        return tuple(step for step in self.steps if step.kept)

    @property
    def headline(self) -> str:
        """Return the total gain in one sentence."""
        tried = f"{len(self.steps)} fix{'es' * (len(self.steps) != 1)} tried, {len(self.kept)} kept"
        if self.comparison is None:
            return f"{self.model_name}: nothing was found that helps ({tried})"
        verdict = self.comparison.verdict
        if verdict.ratio is None:
            return f"{self.model_name}: {speed_in_words(verdict) or verdict.kind} ({tried})"
        interval = factor_ends(verdict.low, verdict.high, f"{verdict.confidence_text} CI ")
        speed_up = f"{factor(verdict.ratio, verdict.low, verdict.high)}{interval} as fast as before"
        return f"{self.model_name}: {verdict.kind}, {speed_up} ({tried})"

    def to_frame(self) -> pd.DataFrame:
        """Return one row per step: finding, title, kept, predicted, measured, low, high, reason."""
        attributes = (
            *("finding.id", "finding.title", "kept", "finding.gain.speed_up"),
            *("ratio", "low", "high", "reason"),
        )
        names = {"finding.id": "finding", "finding.gain.speed_up": "predicted", "ratio": "measured"}
        return frame_of(self.steps, attributes, ("predicted", "measured", "low", "high"), names)

    def __str__(self) -> str:
        lines = [self.headline]
        for step in self.steps:
            lines.append(f"- {'kept' if step.kept else 'not kept'}: {step.finding.title}. {step.reason}")
        return "\n".join([*lines, *(f"- not tried: {text}" for text in self.skipped), self.ended])
