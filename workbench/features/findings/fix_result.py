"""What came of a fix that was tried, and the decision whether to keep it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.bundle.comparison import OutputAgreement, Verdict
from workbench.core.config import Config
from workbench.core.measure.wording import speed_in_words
from workbench.core.text import factor, in_mib, in_ms, printable
from workbench.drawing.markup import note_html, text
from workbench.features.findings.html import kept_html
from workbench.features.findings.record import FindingRecord

MEMORY_GAIN = 0.05  # a fix for memory or load is kept from this part on
LOAD_GAIN = 0.20


@dataclass(frozen=True, slots=True, repr=False)
class FixResult:
    """A fix that was tried: what was measured, and whether to keep it. Made by `finding.try_fix()`."""

    finding: FindingRecord
    kept: bool
    reason: str
    config: Config  # the changed one where it was kept, else the one before
    comparison: Any  # a wb.Comparison; None: nothing was measured
    model_file: Path | None = None  # the prepared file of a kept fix that changes the file

    @property
    def verdict(self) -> Verdict | None:
        """What was measured of the fix against the config before it; None if nothing was."""
        return None if self.comparison is None else self.comparison.verdict

    @property
    def agreement(self) -> tuple[OutputAgreement, ...] | None:
        """Each output with the fix against the one without; None if they were not compared."""
        return (None if self.comparison is None else self.comparison.agreement) or None

    @property
    def prediction(self) -> str:
        """The predicted gain beside the measured one; empty where nothing is predicted or measured."""
        gain = self.finding.gain
        if gain.saved is None or self.comparison is None:
            return ""
        before, after = self.comparison.runs[:2]
        if gain.subject == "time":
            verdict = self.comparison.verdict
            speed = speed_in_words(verdict) or "nothing"
            if verdict.ratio is not None:
                speed = factor(verdict.ratio, verdict.low, verdict.high)
            return f"predicted {gain.ratio_text}, measured {speed}"
        first, second = _sizes(gain.subject, before, after)
        measured = None if first is None or second is None else first - second
        texts = [
            in_mib(None if value is None else round(value)) if gain.subject == "memory" else in_ms(value, 3)
            for value in (gain.saved, measured)
        ]
        return f"predicted {texts[0]} less, measured {texts[1] or 'nothing'}"

    @property
    def html(self) -> str:
        """Whether the fix is worth keeping, and why."""
        is_open = not self.kept and self.verdict is not None and self.verdict.kind == "unknown"
        chip = '<span class="wbp-chip wbp-quiet">Not settled yet</span>' if is_open else kept_html(self.kept)
        prediction = note_html(self.prediction) if self.prediction else ""
        return f'<div role="status">{chip} {text(self.reason)}{prediction}</div>'

    def __str__(self) -> str:
        words = f"{'Kept' if self.kept else 'Not kept'}: {self.finding.title}. {self.reason}"
        return printable(f"{words} ({self.prediction})" if self.prediction else words, keep="\n")

    def __repr__(self) -> str:
        return f"<FixResult: {self}>"


def decide(finding: FindingRecord, comparison: Any) -> tuple[bool, str]:
    """Whether what was measured is worth the change, and why."""
    verdict, (before, after) = comparison.verdict, comparison.runs[:2]
    words = str(comparison).splitlines()[0]
    if after.failure is not None:
        return False, f"It could not be run: {after.failure.problem}"
    if verdict.kind in ("outputs differ", "slower"):
        return False, words
    subject = finding.gain.subject
    if subject in ("memory", "load"):
        sizes = _sizes(subject, before, after)
        least = MEMORY_GAIN if subject == "memory" else LOAD_GAIN
        if sizes[0] is None or sizes[1] is None:
            return False, f"The {subject} could not be measured"
        share = 1 - sizes[1] / sizes[0]
        return share >= least, f"{subject}: {share * 100:.0f} % less; {words}"
    return verdict.kind == "faster", words


def _sizes(subject: str, before: Any, after: Any) -> tuple[float | None, float | None]:
    """The memory or the load time of both runs."""
    if subject == "memory":
        return before.peak_rss_bytes, after.peak_rss_bytes
    return before.load_s, after.load_s
