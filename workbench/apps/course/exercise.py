"""The list of exercises. `@exercise("1.a", …)` above the checker of an answer registers one.

What a wrong answer gets to read, hints and rubrics stand in lessons.json, lesson by lesson.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any, TypeAlias, TypeGuard

import workbench as wb
from workbench.apps.course.progress import lesson_of
from workbench.core.config import Config
from workbench.core.text import one_line

Checker: TypeAlias = Callable[..., str | None]  # of the answer and the given values: what is wrong, or None
Answers: TypeAlias = type[Config] | type[float] | type[str] | tuple[str, ...] | None

_KINDS: dict[type, str] = {Config: "wb.Config", float: "number", str: "text"}
NONE = "none"  # the answer where nothing is right
ANSWERS = ("faster", "slower", "tie", "not settled")
LEAST_SQNR_DB = 60.0


class OverBudget(str):
    """What a checker returns for an answer that is right but exceeds the limit of its exercise."""


@dataclass(frozen=True, slots=True)
class Exercise:
    """How an answer is checked, and its budget: measured seconds, a limit that the checker knows, or both."""

    name: str
    checker: Checker
    answers: Answers  # a config, a number, a text, or one of these texts; None: the checker says
    budget_s: float | None
    limit: str  # in words: "at least 1.2 times faster"
    evidence: str  # the kind of result that is handed in for it; empty: it is checked in the notebook alone

    @property
    def hints(self) -> tuple[str, ...]:
        """What a wrong answer gets to read, one after the other."""
        return tuple(lesson_texts()[lesson_of(self.name)]["hints"][self.name])

    @property
    def given(self) -> str | None:
        """The name under which the checker takes the evidence; None: the answer says all."""
        keywords = [p for p in signature(self.checker).parameters.values() if p.kind is p.KEYWORD_ONLY]
        return keywords[0].name if keywords else None

    def problem(self, answer: Any, **given: Any) -> str | None:
        """Return what is wrong with an answer, or None."""
        if isinstance(self.answers, tuple):
            if answer not in self.answers:
                return f"The answer is none of: {', '.join(self.answers)}."
        elif self.answers is not None:
            fits = is_number(answer) if self.answers is float else isinstance(answer, self.answers)
            if not fits:
                return f"The answer is no {_KINDS[self.answers]}."
        return self.checker(answer, **given)

    def spent_s(self, given: Mapping[str, Any]) -> float | None:
        """Return the seconds of measuring that were asked for; None where nothing limits them."""
        if self.budget_s is None:
            return None
        records: list[Any] = [getattr(result, "record", None) for result in given.values()]
        return next((float(record.asked_s) for record in records if hasattr(record, "asked_s")), None)


_EXERCISES: dict[str, Exercise] = {}


def exercise(
    name: str, *, answers: Answers = None, budget_s: float | None = None, limit: str = "", evidence: str = ""
) -> Callable[[Checker], Checker]:
    """Register the checker of an exercise."""

    def register(checker: Checker) -> Checker:
        _EXERCISES[name] = Exercise(name, checker, answers, budget_s, limit, evidence)
        return checker

    return register


def exercises() -> Mapping[str, Exercise]:
    """Return every exercise by its name, lesson by lesson."""
    for path in Path(__file__).parent.glob("*_lesson.py"):
        import_module(f"workbench.apps.course.{path.stem}")
    return dict(sorted(_EXERCISES.items(), key=lambda item: (int(item[0].partition(".")[0]), item[0])))


@cache
def lesson_texts() -> dict[str, Any]:
    """Return the hints, the words for wrong answers and the rubric of each lesson, and its criteria."""
    texts: dict[str, Any] = json.loads(Path(__file__).with_name("lessons.json").read_text(encoding="utf-8"))
    return texts


def wrong(name: str, cause: str, /, **fields: object) -> str:
    """Return what a wrong answer to an exercise gets to read, by its cause."""
    return str(lesson_texts()[lesson_of(name)]["wrong"][name][cause].format(**fields))


def is_number(answer: Any) -> TypeGuard[float]:
    """Return whether an answer is a finite number, no larger than a float can be."""
    is_real = isinstance(answer, int | float) and not isinstance(answer, bool)
    return is_real and abs(answer) <= sys.float_info.max


def outputs_agree(comparison: wb.Comparison, label: str) -> bool:
    """Return whether all outputs of a candidate are within 60 dB of the baseline's."""
    rows = [row for row in comparison.agreement if row.label == label]
    return all(row.agrees and (row.sqnr_db is None or row.sqnr_db >= LEAST_SQNR_DB) for row in rows)


def problem_of_speed(comparison: wb.Comparison, least: float, asked: str) -> str | None:
    """Return why B did not run, has other outputs than A, or is surely less than `least` times as fast."""
    run, verdict = comparison.runs[1], comparison.verdict
    if run.failure is not None:
        return f"This config did not run: {one_line(run.failure.problem, 160).rstrip('.')}."
    if not outputs_agree(comparison, run.label):
        return f"The outputs are not within {LEAST_SQNR_DB:g} dB of those of the file as it is."
    if verdict.high is not None and verdict.high < least:
        return OverBudget(f"It is at most {verdict.high:.2f} times as fast; {asked}.")
    return None
