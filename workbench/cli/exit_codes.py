"""The exit codes of all commands, and what a comparison means for them: a gate in continuous integration."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.records.comparison import ComparisonRecord

FINE = 0
WORSE = 1
WRONG_USE = 2  # the exit code of argparse
OPEN = 3  # not settled, or not measured
INTERRUPTED = 128 + 2  # the shell's exit code after SIGINT
TERMINATED = 128 + 15

REASONS = {"slower": WORSE, "differs": WORSE, "unknown": OPEN}  # what `--fail-if` takes
KINDS = {"slower": "slower", "differs": "outputs differ", "unknown": "unknown"}


@dataclass(frozen=True, slots=True)
class Check:
    """One condition of a gate and its result, with an exit code and the reason."""

    name: str
    code: int
    text: str


def exit_code(checks: Iterable[Check]) -> int:
    """Return the code of all checks: worse comes before open."""
    codes = {check.code for check in checks}
    return next((code for code in (WORSE, OPEN) if code in codes), FINE)


def was_measured(record: ComparisonRecord, label: str) -> bool:
    """Return whether the config ran as asked; a provider that fell back is another config."""
    run = next(run for run in record.runs if run.label == label)
    fell_back = any(doubt.kind == "fallback" and doubt.label == label for doubt in record.doubts)
    return run.failure is None and bool(run.processes) and not fell_back
