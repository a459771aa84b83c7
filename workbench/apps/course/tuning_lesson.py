"""The exercises of the lesson on tuning and deployment."""

from __future__ import annotations

import re
from typing import Any

import workbench as wb
from workbench.apps.course.exercise import NONE, OverBudget, exercise, is_number, wrong
from workbench.core.config import Config
from workbench.core.text import listed

MOST_REGRET = 0.05
WIDEST_PROMISE = 3.0  # times the measured upper end
NEAR_BEST = f"within {MOST_REGRET:.0%} of the proven best"
_NEAR = 0.0101  # a report rounds to two decimals


@exercise("10.a", answers=Config, budget_s=120.0, limit=NEAR_BEST, evidence="study")
def best_config(answer: Config, *, study: wb.Study) -> str | None:
    """Check for the proven best config, or one within 5 % of it that keeps every limit."""
    if answer == study.best:
        return None
    record = study.record
    if record.best == record.candidates[0].label:
        return wrong("10.a", "defaults")
    candidate = next((other for other in record.candidates if other.config == answer), None)
    if candidate is None:
        return wrong("10.a", "not measured")
    if not candidate.is_in:
        reason = f"({candidate.state}): {candidate.reason[:200]}"
        return wrong("10.a", "out", label=candidate.label, reason=reason)
    best = record.candidate(record.best)
    if candidate.ratio is None or best.ratio is None:
        return wrong("10.a", "default")
    regret = 1 - candidate.ratio / best.ratio
    if regret <= MOST_REGRET:
        return None
    return OverBudget(wrong("10.a", "regret", label=candidate.label, regret=regret))


@exercise("10.b", limit=f"at most {WIDEST_PROMISE:g} times the upper end of the measured p99")
def promised_p99(answer: Any, *, load: wb.LoadTest, callers: int) -> str | None:
    """Check a promise in milliseconds that the measured p99 supports; "none" where it is not known."""
    rows = [row for row in load.points if row.point.callers == callers and row.run.label == "A"]
    high_s = rows[0].p99.high if rows else None
    if high_s is None:
        return None if answer == NONE else wrong("10.b", "not known")
    if not is_number(answer):
        return wrong("10.b", "no number")
    if answer < 1000 * high_s:
        return wrong("10.b", "too little")
    if answer > WIDEST_PROMISE * 1000 * high_s:
        return OverBudget(wrong("10.b", "too much"))
    return None


@exercise("10.c", answers=str, evidence="study")
def report(answer: str, *, study: wb.Study) -> str | None:
    """Check a report for its ratio, interval, conditions and what was excluded."""
    missing = [what for what, present in _contents(answer, study).items() if not present]
    return wrong("10.c", "lacks", missing=listed(missing)) if missing else None


def _contents(text: str, study: wb.Study) -> dict[str, bool]:
    """Return what a report must say, and whether it does."""
    record, verdict = study.record, study.record.verdict
    measured = record.selection
    numbers = [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]
    contents = {
        "the model": measured.model.name in text,
        "the processor": measured.machine.cpu in text,
        "the version of ONNX Runtime": measured.versions.onnxruntime in text,
        "how many other configs were considered": float(len(record.candidates) - 1) in numbers,
    }
    if record.best == record.candidates[0].label or verdict is None:
        return {"that the defaults stay": "default" in text.casefold(), **contents}
    ends = (("the ratio", verdict.ratio), ("the lower end", verdict.low), ("the upper end", verdict.high))
    given = {
        what: value is None or any(abs(number - value) <= _NEAR for number in numbers) for what, value in ends
    }
    return given | contents
