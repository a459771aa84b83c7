"""Grade handed-in bundles. They are strangers' files: each is opened with bounds, and nothing of it runs."""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from workbench.apps.course.hand_in import HandIn, handed_in, read_hand_in
from workbench.apps.course.progress import lesson_of
from workbench.core.bundle.bundle import read_bundle
from workbench.core.bundle.columns import FILES, NANOSECONDS, REAL
from workbench.core.bundle.display import csv_of, data_frame
from workbench.core.bundle.member import record_members
from workbench.core.errors import ConfigError, WorkbenchError
from workbench.core.text import counted, one_line, quoted
from workbench.features.base.registry import KINDS

_MOST_FILES = 10_000
RIGHT, WRONG, OVER, COPIED = "right", "wrong", "over budget", "copied"
OTHER, DAMAGED, REPLACED, MISSING = "other exercise", "cannot be opened", "replaced", "nothing handed in"
_COLUMNS = (  # five of Moodle's grading worksheet; Canvas calls the first two ID and Student
    "Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments", "Exercise", "Status",
    "Handed in", "Late", "File", "Note", "Should", "Because", "Unless",
)  # fmt: skip
_MOODLE = re.compile(r"(?P<name>.+)_(?P<id>[0-9]+)_assignsubmission_file_?")
_CANVAS = re.compile(r"(?P<name>[^_]+)_(?P<late>LATE_)?(?P<id>[0-9]+)_[0-9]+_.+")
STRUCTURAL = ("explanation",)  # the same for everybody: only the id tells two of them apart


@dataclass(frozen=True, slots=True)
class Student:
    """Who handed in, as the learning platform names folders and files."""

    identifier: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Graded:
    """One file, or a student without any. `grade` is a share; None: the teacher decides."""

    student: Student
    file: str
    status: str
    reason: str  # a sentence for the student
    grade: float | None = None
    exercise: str = ""
    handed_in_utc: str = ""
    late: bool = False
    note: str = ""  # for the teacher alone
    decision: tuple[str, ...] = ()

    def __str__(self) -> str:
        late = ", late" if self.late else ""
        return " ".join(f"{self.file}: {self.status}{late}. {self.reason} {self.note}".split())


@dataclass(frozen=True, slots=True)
class Opened:
    """What a file holds."""

    result: Any
    hand_in: HandIn
    marks: frozenset[str]  # its id and its samples: two files that share one hold the same measurement


class Grades(tuple[Graded, ...]):
    """All files of a folder, each classified. Made by `grade`."""

    __slots__ = ()

    def __str__(self) -> str:
        counts = Counter(row.status for row in self)
        summary = ", ".join(f"{number} {status}" for status, number in counts.items())
        return "\n".join([*map(str, self), f"{counted(len(self), 'file')}: {summary or 'none'}."])

    def csv(self, points: float = 1.0) -> str:
        """Return a row for each student and exercise, as learning platforms import it."""
        rows = [
            (
                row.student.identifier, row.student.name,
                "" if row.grade is None else f"{row.grade * points:g}", f"{points:g}", row.reason,
                row.exercise, row.status, row.handed_in_utc, "late" if row.late else "", row.file, row.note,
                *(*row.decision, "", "", "")[:3],
            )
            for row in self._counting()
        ]  # fmt: skip
        return csv_of(data_frame(rows, columns=list(_COLUMNS)))

    def _counting(self) -> Iterator[Graded]:
        """Yield what counts: of a student's files of an exercise the latest, else one that says why not."""
        rows = [row for row in self if row.status != REPLACED]
        counts = {row.student for row in rows if row.status not in (DAMAGED, OTHER)}
        spare: set[Student] = set()
        for row in rows:
            if row.status in (DAMAGED, OTHER):
                if row.student in counts | spare:
                    continue
                spare.add(row.student)
            yield row


def grade(folder: str | Path, exercise: str | None = None, *, due: str | datetime | None = None) -> Grades:
    """Classify every bundle below a folder: one folder for each student, or one file for each.

    `exercise` ("03" or "3.c") says what was asked for; without it each file is checked as what it says it is.
    Later than `due` is late, by the clock of the student's machine.
    """
    root = Path(folder).expanduser()
    wanted = None if exercise is None else handed_in(exercise)[0]
    deadline = _deadline(due)
    opened: dict[Path, Opened] = {}
    rows: dict[Path, Graded] = {}
    for path, content in open_all(root).items():
        student, late = student_of(path.relative_to(root))
        row = Graded(student, one_line(path.relative_to(root).as_posix(), 200), DAMAGED, "", late=late)
        if isinstance(content, Opened):
            opened[path] = content
            rows[path] = _classified(row, content, wanted, deadline)
        else:
            rows[path] = replace(row, reason=one_line(content.problem.replace(str(path), path.name), 300))
    _mark_copies(rows, opened)
    _mark_replaced(rows, opened)
    return Grades([*rows.values(), *_without(root)])


def student_of(path: Path) -> tuple[Student, bool]:
    """Return who handed a file in, and whether the platform says that it was late."""
    first = path.parts[0] if len(path.parts) > 1 else path.name
    if moodle := _MOODLE.fullmatch(first):
        return Student(f"Participant {moodle['id']}", one_line(moodle["name"], 100)), False
    if len(path.parts) == 1 and (canvas := _CANVAS.fullmatch(path.name)):
        return Student(canvas["id"], one_line(canvas["name"], 100)), canvas["late"] is not None
    return Student(one_line(first.removesuffix(".ortbench"), 100)), False


def open_all(root: Path) -> dict[Path, Opened | WorkbenchError]:
    """Return what each bundle below a folder holds, or why it cannot be opened."""
    if not root.is_dir():
        raise ConfigError(f"{quoted(str(root))} is no folder", "give the folder with what students handed in")
    files = sorted(root.rglob("*.ortbench"))
    if len(files) > _MOST_FILES:
        raise ConfigError(
            f"{root} holds more than {_MOST_FILES:,} bundles", "give the folder of one assignment"
        )
    return {path: _opened(path) for path in files}


def _without(root: Path) -> Iterator[Graded]:
    """Yield a row for each folder of a student that holds no bundle."""
    for folder in sorted(root.iterdir()):
        if folder.is_dir() and not folder.name.startswith(".") and not any(folder.rglob("*.ortbench")):
            student, _ = student_of(Path(folder.name, "nothing"))
            yield Graded(student, one_line(folder.name, 200), MISSING, "There is no .ortbench file.")


def _opened(path: Path) -> Opened | WorkbenchError:
    if path.is_symlink():
        return ConfigError("It is a link; links are not followed.", "Ask for the file itself.")
    try:
        bundle = read_bundle(path, KINDS)
        hand_in = read_hand_in(bundle)
    except WorkbenchError as error:
        return error
    return Opened(KINDS.result(bundle), hand_in, frozenset({bundle.about.id, *_samples(bundle.record)}))


def _samples(record: Any) -> Iterator[str]:
    """Yield a mark of the numbers of a record, where it has long rows of them: nobody measures them twice."""
    members = record_members(record, "", private=True)
    numbers = members.get(NANOSECONDS) or members.get(FILES[REAL])
    if numbers is not None and KINDS.of(record, "").name not in STRUCTURAL:
        yield hashlib.sha256(numbers).hexdigest()


def _classified(row: Graded, opened: Opened, wanted: str | None, deadline: float) -> Graded:
    hand_in = opened.hand_in
    row = replace(
        row,
        exercise=one_line(hand_in.exercise, 20),
        handed_in_utc=hand_in.handed_in_utc,
        late=row.late or hand_in.moment > deadline,
        decision=tuple(one_line(sentence, 1_000) for sentence in hand_in.decision[:3]),
    )
    if wanted is not None and hand_in.exercise != wanted:
        place = "" if lesson_of(hand_in.exercise) == lesson_of(wanted) else "another lesson: "
        return replace(row, status=OTHER, reason=f"It is of {place}exercise {row.exercise}, not {wanted}.")
    try:
        checked = hand_in.check(opened.result)
    except Exception as error:  # noqa: BLE001 - a stranger's record may be whole and still make no sense
        reason = f"The check could not be made: {one_line(str(error), 200)}"
        return replace(row, status=DAMAGED, reason=reason)
    status = RIGHT if checked.passed else OVER if checked.correct else WRONG
    return replace(row, status=status, reason=one_line(checked.text, 500), grade=float(checked.passed))


def _mark_copies(rows: dict[Path, Graded], opened: dict[Path, Opened]) -> None:
    """Mark the files of different students that hold the same measurement; who measured it is open."""
    holders: dict[str, list[Path]] = defaultdict(list)
    for path, content in opened.items():
        for mark in content.marks:
            holders[mark].append(path)
    for path, content in opened.items():
        same = {other for mark in content.marks for other in holders[mark]}
        others = sorted(rows[other].file for other in same if rows[other].student != rows[path].student)
        if others:
            reason = "The same measurement is in another hand-in; each student measures alone."
            note = f"Its check alone says: {rows[path].status}. The same is in: {', '.join(others[:5])}."
            rows[path] = replace(rows[path], status=COPIED, reason=reason, grade=None, note=note)


def _mark_replaced(rows: dict[Path, Graded], opened: dict[Path, Opened]) -> None:
    """Mark of the files of a student for one exercise all but the latest."""
    latest: dict[tuple[Student, str], Path] = {}
    for path in sorted(opened, key=lambda path: opened[path].hand_in.moment):
        row = rows[path]
        if row.status in (DAMAGED, OTHER):
            continue
        before = latest.get((row.student, row.exercise))
        if before is not None:
            reason = f"{row.file} is later."
            rows[before] = replace(rows[before], status=REPLACED, reason=reason, grade=None, note="")
        latest[row.student, row.exercise] = path


def _deadline(due: str | datetime | None) -> float:
    """Return a time as a number, by the clock of this machine where it names no zone."""
    try:
        moment = datetime.fromisoformat(due) if isinstance(due, str) else due
        return math.inf if moment is None else moment.timestamp()
    except (ValueError, OverflowError) as error:  # no clock has an hour of the year 1
        raise ConfigError(f"{quoted(due)} is no time", "write 2026-11-20T23:59") from error
