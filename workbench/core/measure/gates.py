"""The checks that a gate makes of what was measured or judged, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from workbench.core.bundle.comparison import ComparisonRecord

FINE = 0
WORSE = 1
OPEN = 3  # not settled, or not measured

OF_ANSWER = {True: FINE, False: WORSE, None: OPEN}  # whether a condition holds; None: not known
REASONS = {"slower": WORSE, "differs": WORSE, "unknown": OPEN}  # what `--fail-if` takes
_KINDS = {"slower": "slower", "differs": "outputs differ", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Gate:
    """One condition of a gate and its result, with an exit code and the reason."""

    name: str
    code: int
    text: str


def exit_code(checks: Iterable[Gate]) -> int:
    """Return the code of all checks: worse comes before open."""
    codes = {check.code for check in checks}
    return next((code for code in (WORSE, OPEN) if code in codes), FINE)


def was_measured(record: ComparisonRecord, label: str) -> bool:
    """Return whether the config ran as asked; a provider that fell back is another config."""
    run = next(run for run in record.runs if run.label == label)
    fell_back = any(doubt.kind == "fallback" and doubt.label == label for doubt in record.doubts)
    as_asked = record.protocol.allow_fallback or not fell_back
    return run.failure is None and bool(run.processes) and as_asked


def of_comparison(record: ComparisonRecord, fail_if: Collection[str]) -> Iterator[Gate]:
    """Yield a check for each candidate: what was not measured never passes."""
    from workbench.core.measure.wording import sentence

    for verdict in record.verdicts:
        is_known = was_measured(record, "A") and was_measured(record, verdict.label)
        code = code_of(verdict.kind, fail_if) if is_known else OPEN
        yield Gate(f"{verdict.label} against A", code, sentence(record, verdict))


def code_of(kind: str | None, fail_if: Collection[str]) -> int:
    """Return the code of a verdict's kind; without a verdict nothing is wrong."""
    return next((REASONS[reason] for reason in fail_if if _KINDS[reason] == kind), FINE)
