"""The list of exercises. `@exercise("1.a", "a hint", …)` above the checker of an answer registers one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from workbench.core.text import one_line

if TYPE_CHECKING:
    from workbench.core.bundle.comparison import Verdict
    from workbench.features.compare.result import Comparison

Checker: TypeAlias = Callable[..., str | None]  # of the answer and the given values: what is wrong, or None
Spent: TypeAlias = Callable[[Mapping[str, Any]], float | None]

LESSONS = (
    *("measuring", "level", "fusion", "convolution", "thread", "transformer", "int8", "provider"),
    *("memory", "tuning"),
)
NONE = "none"  # the answer where nothing is right
ANSWERS = ("faster", "slower", "tie", "not settled")
LEAST_SQNR_DB = 60.0


class OverBudget(str):
    """What a checker returns for an answer that is right but exceeds the limit of its exercise."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """How an answer is checked, and its budget: measured seconds, a limit that the checker knows, or both.

    `spent` reads from the given values what `budget` limits.
    """

    checker: Checker
    hints: tuple[str, ...]
    budget_s: float | None
    spent: Spent
    limit: str  # in words: "at least 1.2 times faster"
    evidence: str  # the kind of result that is handed in for it; empty: it is checked in the notebook alone

    @property
    def given(self) -> str | None:
        """The name under which the checker takes the evidence; None: the answer says all."""
        keywords = [p for p in signature(self.checker).parameters.values() if p.kind is p.KEYWORD_ONLY]
        return keywords[0].name if keywords else None


_EXERCISES: dict[str, Exercise] = {}


def exercise(
    name: str,
    *hints: str,
    budget_s: float | None = None,
    spent: Spent = lambda _: None,
    limit: str = "",
    evidence: str = "",
) -> Callable[[Checker], Checker]:
    """Register the checker of an exercise."""

    def register(checker: Checker) -> Checker:
        _EXERCISES[name] = Exercise(checker, hints, budget_s, spent, limit, evidence)
        return checker

    return register


def exercises() -> Mapping[str, Exercise]:
    """Return every exercise by its name, lesson by lesson."""
    for lesson in LESSONS:
        import_module(f"workbench.apps.course.{lesson}_lesson")
    return dict(sorted(_EXERCISES.items(), key=lambda item: (int(item[0].partition(".")[0]), item[0])))


def is_number(answer: Any) -> TypeGuard[float]:
    """Return whether an answer is a finite number, no larger than a float can be."""
    if isinstance(answer, bool) or not isinstance(answer, int | float):
        return False
    return abs(answer) <= sys.float_info.max


def verdict_kind(verdict: Verdict) -> str:
    """Return a verdict as one of the answers."""
    return verdict.kind if verdict.kind in ANSWERS else "not settled"


def outputs_agree(comparison: Comparison, label: str) -> bool:
    """Return whether all outputs of a candidate are within 60 dB of the baseline's."""
    rows = [row for row in comparison.agreement if row.label == label]
    return all(row.agrees and (row.sqnr_db is None or row.sqnr_db >= LEAST_SQNR_DB) for row in rows)


def problem_of_run(comparison: Comparison, label: str) -> str | None:
    """Return why a config was not measured, or None."""
    run = next(run for run in comparison.runs if run.label == label)
    if run.failure is None:
        return None
    return f"This config did not run: {one_line(run.failure.problem, 160).rstrip('.')}."


def budget_of_comparison(given: Mapping[str, Any]) -> float | None:
    """Return the seconds that were asked for the comparison."""
    return float(given["comparison"].record.protocol.budget_s)
