"""Exercises are checked for correctness and for a budget, with a hint for each wrong answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from workbench.apps.course.exercise import Checker, OverBudget, exercises, is_number
from workbench.apps.course.progress import Attempt, check_name, progress, save
from workbench.core.errors import ConfigError
from workbench.core.html_table import facts_table
from workbench.core.text import listed

LAST_ANSWERS: dict[str, Any] = {}  # by exercise, of this session, for handing in


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult:
    """What the check says about an answer."""

    name: str
    correct: bool | None  # None: no answer was given
    within_budget: bool | None  # None: there is no budget, or a wrong answer leaves it open
    text: str
    hint: str = ""
    limits: tuple[str, ...] = ()  # in words
    counted: bool = True  # False: of a solution, say

    @property
    def passed(self) -> bool:
        """Whether the answer is right and within the budget."""
        return self.correct is True and self.within_budget is not False

    def __repr__(self) -> str:
        return " ".join(part for part in (self._mark, self.text, self.hint and f"Hint: {self.hint}") if part)

    def _repr_html_(self) -> str:
        budget = "; ".join(self.limits) or "none"
        if self.limits and self.correct is not None:
            budget += {True: ": kept", False: ": exceeded", None: ": not looked at"}[self.within_budget]
        rows = (("result", self._mark), ("why", self.text), ("budget", budget), ("hint", self.hint))
        caption = f"Exercise {self.name}{'' if self.counted else ', not counted'}"
        return facts_table([row for row in rows if row[1]], caption)

    @property
    def _mark(self) -> str:
        return "No answer yet." if self.correct is None else "Passed." if self.passed else "Not yet."


def check(
    name: str,
    answer: Any,
    *,
    expected: Any = None,
    tolerance: float = 0.0,
    checker: Checker | None = None,
    spent: float | None = None,
    budget: float | None = None,
    unit: str = "s",
    hints: Sequence[str] = (),
    keep: bool = True,
    **given: Any,
) -> CheckResult:
    """Check an answer for correctness, and `spent` against `budget`.

    The exercises of the course know their answer. A lesson of your own gives `expected`, with a `tolerance`
    for numbers, or a `checker`: a function that takes the answer and `given`, and returns what is wrong, or
    None. Each wrong answer moves on to the next of the `hints`. `keep=False` counts no attempt.

    >>> from workbench import course
    >>> course.check("doctest.sum", 4, expected=4, keep=False).passed
    True
    """
    exercise, limit, measuring = exercises().get(check_name(name)), "", ""
    if exercise is not None:
        checker, hints, limit, measuring = exercise.problem, exercise.hints, exercise.limit, " of measuring"
        budget, spent, unit = exercise.budget_s, exercise.spent_s(given), "s"
    if checker is None and expected is None:
        raise ConfigError(
            f"there is no exercise {name!r} in the course",
            f"name one of {listed(exercises())}, or give expected=… or checker=… for one of your own",
        )
    time = "" if budget is None or spent is None else f"at most {budget:g} {unit}{measuring}"
    limits = tuple(filter(None, (time, limit)))
    if keep:
        LAST_ANSWERS[name] = None if answer is ... else answer
    if answer is None or answer is ...:
        text = "Put your answer in place of None and run the cell again."
        return CheckResult(name, None, None, text, limits=limits, counted=keep)
    problem = checker(answer, **given) if checker is not None else _difference(answer, expected, tolerance)
    late = budget is not None and spent is not None and spent > budget
    over = isinstance(problem, OverBudget)
    within: bool | None = None
    if over or late:
        within = False
    elif limits and (problem is None or not limit):
        within = True
    but = f", but it took {spent:g} {unit} of at most {budget:g} {unit}" if late else ""
    text = problem or f"The answer is right{but}."
    correct, attempt = problem is None or over, progress().attempt(name)
    passed = correct and within is not False
    hint = hints[min(attempt.tries, len(hints) - 1)] if hints and not passed else ""
    if keep:
        tried = Attempt(name, attempt.passed or passed, attempt.tries + (not passed))
        save(progress().with_attempt(tried))
    return CheckResult(name, correct, within, text, hint, limits, keep)


def _difference(answer: Any, expected: Any, tolerance: float) -> str | None:
    if isinstance(expected, int | float) and not isinstance(expected, bool):
        if not is_number(answer):
            return "The answer is no number."
        if abs(answer - expected) <= tolerance:
            return None
        return f"The number is too {'high' if answer > expected else 'low'}."
    return None if answer == expected else "That is not the answer."
