"""What an exercise is, and the questions about comparisons that several checkers ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.records.comparison import Verdict
    from workbench.results.comparison import Comparison

ANSWERS = ("faster", "slower", "tie", "not settled")
LEAST_SQNR_DB = 60.0


class OverBudget(str):
    """What a checker returns for an answer that is right but exceeds the limit of its exercise."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """How an answer is checked, and its budget: measured seconds, a limit that the checker knows, or both.

    `spent` reads from the given values what `budget` limits.
    """

    checker: Callable[..., str | None]
    hints: tuple[str, ...]
    budget: float | None = None
    spent: Callable[[Mapping[str, Any]], float | None] = lambda _: None
    unit: str = "s"
    limit: str = ""  # in words: "at least 1.2 times faster"


def verdict_kind(verdict: Verdict) -> str:
    """Return a verdict as one of the answers."""
    return verdict.kind if verdict.kind in ANSWERS else "not settled"


def outputs_agree(comparison: Comparison, label: str) -> bool:
    """Return whether all outputs of a candidate are within 60 dB of the baseline's."""
    rows = [row for row in comparison.agreement if row.label == label]
    return all(row.agrees and (row.sqnr_db is None or row.sqnr_db >= LEAST_SQNR_DB) for row in rows)


def budget_of_comparison(given: Mapping[str, Any]) -> float | None:
    """Return the seconds that were asked for the comparison."""
    return float(given["comparison"].record.protocol.budget_s)
