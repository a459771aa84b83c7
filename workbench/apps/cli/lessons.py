"""`workbench course`: list lessons with the reader's progress, open one; grade and gather hand-ins."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from workbench.apps.cli import lab
from workbench.apps.cli.commands import Commands, add_command
from workbench.apps.cli.notebooks import keep_own_copy, shipped_folder, writable_copy
from workbench.core.bundle.atomic import write_atomically
from workbench.core.errors import ConfigError
from workbench.core.text import counted, listed

COURSE_FOLDER = "course"  # below the notebooks


@dataclass(frozen=True, slots=True)
class Lesson:
    """A shipped lesson."""

    number: str
    title: str
    file: str  # below the folder of the notebooks


def add_to(commands: Commands) -> None:
    """Add the command and its options."""
    course = add_command(commands, "course", run, "list the lessons of the course, open a lesson")
    course.add_argument(
        "lesson",
        nargs="?",
        help="the number of a lesson, or serving; without it: list them all; or grade, gather, slides",
    )
    course.add_argument(
        "bundles",
        nargs="?",
        help="grade, gather: the folder with what was handed in; slides: with lessons that were run",
    )
    course.add_argument(
        "-o", "--output", type=Path, help="grade: a CSV file; gather: a page (.html); slides: a folder"
    )
    course.add_argument("--exercise", help='grade and gather: what was asked for, such as "03" or "3.c"')
    course.add_argument("--due", help="grade: later is marked as late, such as 2026-11-20T23:59")
    course.add_argument("--points", type=float, default=1.0, help="grade: what a right answer earns")
    course.add_argument(
        "--reset", action="store_true", help="forget the lesson's guesses and answers, and copy it anew"
    )
    lab.add_options(course)


def run(arguments: argparse.Namespace) -> int:
    """List the lessons, open or reset a lesson, or look at what students handed in."""
    if arguments.lesson in ("grade", "gather"):
        return _handed_in(arguments)
    if arguments.lesson == "slides":
        return _slides(arguments)
    if arguments.lesson is None:
        if arguments.reset:
            raise ConfigError("--reset names no lesson", "give its number: workbench course 1 --reset")
        print("\n".join(listing()))
        return 0
    pack = packs().get(arguments.lesson)
    lesson = lesson_of(arguments.lesson) if pack is None else Lesson(arguments.lesson, "", pack)
    if not arguments.reset:
        lab.serve(arguments, lesson.file)
    from workbench.apps.course.progress import reset

    folder = writable_copy(arguments.folder)
    kept = keep_own_copy(folder / lesson.file, shipped_folder() / lesson.file)
    writable_copy(arguments.folder)
    reset(lesson.number)
    print(
        f"{'lesson ' if pack is None else ''}{lesson.number} begins anew"
        + (f"; your copy is kept as {kept.name}" if kept else "")
    )
    return 0


def _handed_in(arguments: argparse.Namespace) -> int:
    """Grade the bundles of a folder, or gather them in one figure."""
    if arguments.bundles is None:
        raise ConfigError(
            f"{arguments.lesson} names no folder", f"workbench course {arguments.lesson} submissions/"
        )
    from workbench.apps.course.board import gather
    from workbench.apps.course.grading import grade

    if arguments.lesson == "gather":
        board = gather(arguments.bundles, arguments.exercise)
        print(board)
        if arguments.output is not None:
            board.export_html(arguments.output)
        return 0
    grades = grade(arguments.bundles, arguments.exercise, due=arguments.due)
    print(grades)
    if arguments.output is not None:
        write_atomically(arguments.output, grades.csv(arguments.points).encode("utf-8"))
    return 0


def _slides(arguments: argparse.Namespace) -> int:
    """Write a deck of slides for each lesson that was run."""
    from workbench.drawing.page.slides import write_slides

    folder = arguments.bundles or writable_copy(arguments.folder) / COURSE_FOLDER
    for path, count in write_slides(Path(folder), arguments.output or Path("slides")).items():
        print(f"{path}: {counted(count, 'slide')}")
    return 0


def listing() -> list[str]:
    """Return a line for each lesson: number, title, exercises passed."""
    from workbench.apps.course.exercise import exercises
    from workbench.apps.course.progress import lesson_of as lesson_of_name
    from workbench.apps.course.progress import progress

    kept = progress()
    lines = []
    for lesson in lessons():
        total = sum(lesson_of_name(name) == lesson.number for name in exercises())
        passed = f"{kept.passed(lesson.number)} of {counted(total, 'exercise')} passed"
        lines.append(f"{lesson.number:>2}  {lesson.title}: {passed}")
    lines += ["", *(f"{name}: {_title(shipped_folder() / file)}" for name, file in packs().items())]
    return [*lines, "", "Open a lesson with its number, the others with their name: workbench course 1"]


def packs() -> dict[str, str]:
    """Return the notebooks that tell one story from start to end, by name."""
    root = shipped_folder()
    return {path.stem: path.relative_to(root).as_posix() for path in sorted(root.glob("packs/*/*.ipynb"))}


def lessons() -> tuple[Lesson, ...]:
    """Return the shipped lessons in their order; the template has no number."""
    folder = shipped_folder() / COURSE_FOLDER
    return tuple(_lesson(path) for path in sorted(folder.glob("[0-9]*.ipynb")))


def lesson_of(number: str) -> Lesson:
    """Return the lesson of this number."""
    wanted = number.lstrip("0")
    for lesson in lessons():
        if lesson.number == wanted:
            return lesson
    numbers = listed((lesson.number for lesson in lessons()), None)
    raise ConfigError(f"there is no lesson {number!r}", f"give the number of a lesson: {numbers}")


def _title(path: Path) -> str:
    book = json.loads(path.read_text(encoding="utf-8"))
    return "".join(book["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


def _lesson(path: Path) -> Lesson:
    title = _title(path).partition(". ")[2]
    return Lesson(path.name.partition("_")[0].lstrip("0"), title, f"{COURSE_FOLDER}/{path.name}")
