"""What a student hands in: a result, the answer to an exercise, guesses and a decision, in one bundle."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeGuard

from workbench.apps.course.checking import LAST_ANSWERS, CheckResult, check
from workbench.apps.course.decision import Decision
from workbench.apps.course.exercise import Exercise, exercises, is_number, lesson_texts
from workbench.apps.course.progress import lesson_of, progress
from workbench.core.bundle.atomic import write_atomically
from workbench.core.bundle.bundle import Bundle
from workbench.core.bundle.codec import decode, encode
from workbench.core.bundle.columns import Columns
from workbench.core.bundle.limits import DAMAGED
from workbench.core.config import Config
from workbench.core.errors import BundleError, ConfigError
from workbench.core.stored_files import made_folder
from workbench.core.text import listed, one_line, quoted
from workbench.features.base.result import Result, packed

NOTE = "course"  # the name of the note in the bundle
MOST_NUMBER = 1e15  # of an answer
_MOST_LETTERS = 10_000  # of a note; a decision has three sentences


@dataclass(frozen=True, slots=True)
class HandIn:
    """What stands in a bundle beside the result. All of it is a stranger's word."""

    exercise: str
    handed_in_utc: str
    answer_json: str  # a text or a number; null where the answer is a config
    config: Config | None
    guesses: tuple[tuple[str, str], ...]  # of the lesson: name and value, as JSON
    decision: tuple[str, ...] = ()  # its three sentences, or none

    @property
    def answer(self) -> Config | str | int | float:
        """The answer to check."""
        return _scalar(self.answer_json) if self.config is None else self.config

    @property
    def moment(self) -> float:
        """When it was handed in, as a number to sort by."""
        return datetime.fromisoformat(self.handed_in_utc).timestamp()

    def guess(self, name: str) -> str | int | float | None:
        """Return a guess by its name, or None."""
        value = dict(self.guesses).get(name)
        return None if value is None else _scalar(value)

    def check(self, result: Result) -> CheckResult:
        """Check the answer against the result, without measuring and without counting an attempt."""
        exercise, kind = handed_in(self.exercise)[1], result.feature.name
        if kind != exercise.evidence:
            text = f"It holds a result of kind {kind!r}, and exercise {self.exercise} takes one of kind "
            return CheckResult(self.exercise, False, None, f"{text}{exercise.evidence!r}.")
        given: dict[str, Any] = {exercise.given: result} if exercise.given else {}
        return check(self.exercise, self.answer, keep=False, **given)


@dataclass(frozen=True, slots=True, repr=False)
class HandedIn:
    """The file that was written."""

    path: Path
    hand_in: HandIn

    def __repr__(self) -> str:
        log = "with your decision" if self.hand_in.decision else "without a decision"
        answer = one_line(repr(self.hand_in.answer), 100)
        return (
            f"Exercise {self.hand_in.exercise}, answer {answer}, {log}, is in the file\n"
            f"{self.path}\nHand in this file. Your name is not in it."
        )


def hand_in(
    name: str | int,
    result: Result,
    answer: Any = None,
    *,
    decision: Decision | None = None,
    folder: str | os.PathLike[str] = "hand-in",
) -> HandedIn:
    """Write a result with the answer to an exercise into a file for the teacher, and say where it is.

    `name` is a lesson ("03") or one of its exercises ("3.c"). The answer is the one that `course.check` saw
    last, unless you give another one.
    """
    exercise, wanted = handed_in(name)
    if not isinstance(result, Result) or result.feature.name != wanted.evidence:
        raise ConfigError(
            f"exercise {exercise} takes a result of kind {wanted.evidence!r}, not {quoted(result)}",
            f"give what the lesson's exercise checks, such as: course.hand_in({exercise!r}, {wanted.given})",
        )
    answer = LAST_ANSWERS.get(exercise) if answer is None else answer
    config = answer if isinstance(answer, Config) else None
    if config is None and not _is_answer(answer):
        raise ConfigError(
            f"exercise {exercise} has no answer yet" if answer is None else f"{quoted(answer)} is no answer",
            f"run the cell with course.check({exercise!r}, answer, …) first, or give the answer too",
        )
    if not isinstance(decision, Decision | None):
        raise ConfigError(f"{quoted(decision)} is no decision", "make one with course.decision(result, …)")
    of_lesson = (guess for guess in progress().guesses if lesson_of(guess.name) == lesson_of(exercise))
    made = HandIn(
        exercise,
        datetime.now(UTC).isoformat(timespec="seconds"),
        json.dumps(None if config is not None else answer),
        config,
        tuple((guess.name, json.dumps(guess.value)) for guess in of_lesson),
        tuple(decision or ()),
    )
    note = encode(made, Columns()).decode("utf-8")
    if len(note) > _MOST_LETTERS:
        raise ConfigError(f"answer and decision have {len(note):,} letters", "write less")
    path = made_folder(folder) / f"exercise-{exercise.replace('.', '')}.ortbench"
    return HandedIn(write_atomically(path, packed(result, weights=False, notes=((NOTE, note),))), made)


def read_hand_in(bundle: Bundle) -> HandIn:
    """Return what was handed in with a bundle; a BundleError where there is nothing, or nonsense."""
    note = dict(bundle.notes).get(NOTE)
    if note is None or len(note) > _MOST_LETTERS:
        raise BundleError("It was saved, but not handed in.", "Write it with wb.course.hand_in.")
    made = decode(HandIn, note.encode("utf-8"), Columns(foreign=[]))
    try:
        if handed_in(made.exercise)[0] != made.exercise:
            raise ValueError("its exercise is a lesson")
        for text in (*(value for _, value in made.guesses), *([] if made.config else [made.answer_json])):
            _scalar(text)
    except (ConfigError, ValueError, RecursionError) as error:
        problem = one_line(str(error.args[0]), 200)
        raise BundleError(f"What was handed in makes no sense: {problem}.", DAMAGED) from error
    return made


def handed_in(name: str | int) -> tuple[str, Exercise]:
    """Return an exercise by its name; by a lesson's number the one that lessons.json marks in it."""
    graded = {key: exercise for key, exercise in exercises().items() if exercise.evidence}
    wanted = str(name).lstrip("0")
    wanted = lesson_texts().get(wanted, {}).get("handed_in", wanted)
    if wanted not in graded:
        raise ConfigError(f"{quoted(name)} is no exercise that is handed in", f"name one of {listed(graded)}")
    return wanted, graded[wanted]


def _scalar(text: str) -> str | int | float:
    """Return a text or a finite number from JSON; a ValueError for anything else."""
    value = json.loads(text)
    if not _is_answer(value):
        raise ValueError(f"expected a text or a number below {MOST_NUMBER:g}, got {quoted(text)}")
    return value


def _is_answer(value: object) -> TypeGuard[str | int | float]:
    """Return whether a value is a text, or a number that is finite and not too large."""
    return isinstance(value, str) or (is_number(value) and abs(value) < MOST_NUMBER)
