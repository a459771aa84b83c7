"""The reader's guesses and passed exercises, kept in the user's data folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import NamedTuple

from workbench.core.bundle.atomic import write_atomically
from workbench.core.errors import BundleError, ConfigError, StorageError, warn_user
from workbench.core.home import data_folder
from workbench.core.text import quoted

PROGRESS_FILE = "course.json"
BUDGET = "WORKBENCH_BUDGET"  # "short": for continuous integration and for projectors
SHORT_SHARE = 0.15
SHORTEST_S = 2.0


class Guess(NamedTuple):
    """A guess as it is kept; `revealed`: the measured value was displayed, so the guess is final."""

    name: str
    value: int | float | str
    revealed: bool


class Attempt(NamedTuple):
    """An exercise that was tried."""

    name: str
    passed: bool
    tries: int  # wrong answers so far


@dataclass(frozen=True, slots=True)
class LessonProgress:
    """All guesses and attempts of this reader. Names begin with the lesson: "1.a", "mine.speed"."""

    guesses: tuple[Guess, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    displayed: tuple[str, ...] = ()  # guesses that were not kept before their answer was displayed

    def guess(self, name: str) -> Guess | None:
        """Return the guess of this name, or None."""
        return next((guess for guess in self.guesses if guess.name == name), None)

    def attempt(self, name: str) -> Attempt:
        """Return the attempt of this name, or an empty one."""
        return next((attempt for attempt in self.attempts if attempt.name == name), Attempt(name, False, 0))

    def with_guess(self, guess: Guess) -> LessonProgress:
        """Return the same with this guess in place of an earlier one."""
        return replace(self, guesses=(*(other for other in self.guesses if other.name != guess.name), guess))

    def with_attempt(self, attempt: Attempt) -> LessonProgress:
        """Return the same with this attempt in place of an earlier one."""
        others = (other for other in self.attempts if other.name != attempt.name)
        return replace(self, attempts=(*others, attempt))

    def passed(self, lesson: str) -> int:
        """Return how many exercises of a lesson are passed."""
        return sum(attempt.passed for attempt in self.attempts if lesson_of(attempt.name) == lesson)


def seconds(full: float) -> float:
    """Return a measuring budget: `full`, or 15 % of it with WORKBENCH_BUDGET=short, at least 2 s."""
    if os.environ.get(BUDGET) != "short":
        return full
    return min(full, max(SHORTEST_S, SHORT_SHARE * full))


def progress() -> LessonProgress:
    """Return what is kept; nothing if the file is absent or damaged."""
    from msgspec import MsgspecError, json

    try:
        return json.decode((data_folder() / PROGRESS_FILE).read_bytes(), type=LessonProgress)
    except (OSError, StorageError, MsgspecError, UnicodeDecodeError, RecursionError):
        return LessonProgress()


def reset(lesson: str | int) -> None:
    """Forget guesses and passed exercises of a lesson."""
    kept = progress()
    guesses = (guess for guess in kept.guesses if lesson_of(guess.name) != str(lesson))
    attempts = (attempt for attempt in kept.attempts if lesson_of(attempt.name) != str(lesson))
    displayed = (name for name in kept.displayed if lesson_of(name) != str(lesson))
    save(LessonProgress(tuple(guesses), tuple(attempts), tuple(displayed)))


def save(kept: LessonProgress) -> None:
    """Keep the progress; warn if the data folder cannot be written, because a lesson goes on without it."""
    from msgspec import json

    try:
        write_atomically(data_folder() / PROGRESS_FILE, json.format(json.encode(kept), indent=1))
    except (StorageError, BundleError) as error:
        warn_user(f"the progress of the course is not kept: {error.args[0]}")


def lesson_of(name: str) -> str:
    """Return the lesson of a guess or an exercise: the part before the first dot."""
    return name.partition(".")[0]


def check_name(name: object) -> str:
    """Return a name of a lesson and an exercise; raise a ConfigError for another one."""
    if not isinstance(name, str) or not all(name.partition(".")):
        raise ConfigError(
            f"name={quoted(name)} names no exercise",
            'give the lesson, a dot and a name of your choice, such as "mine.speed"',
        )
    return name
