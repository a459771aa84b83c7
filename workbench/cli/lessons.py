"""`workbench course`: list the lessons with the reader's progress, open, reset or export a lesson."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path

from workbench.cli import lab
from workbench.cli.commands import Commands, add_command
from workbench.cli.notebooks import set_aside, shipped_folder, writable_copy
from workbench.errors import ConfigError
from workbench.records.atomic import write_atomically
from workbench.text import counted, listed, path_text

FOLDER = "course"  # below the notebooks
EXPORT = "export"


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
        "lesson", nargs="?", help="the number of a lesson, or: export NUMBER; without it: list them all"
    )
    course.add_argument("exported", nargs="?", metavar="NUMBER", help="after export: a number or a notebook")
    course.add_argument("--format", metavar="GRADER", help="the grader to export for: nbgrader, otter")
    course.add_argument("-o", "--output", type=Path, metavar="FILE", help="the notebook to write")
    course.add_argument(
        "--reset", action="store_true", help="forget the lesson's guesses and answers, and copy it anew"
    )
    lab.add_options(course)


def run(arguments: argparse.Namespace) -> int:
    """List the lessons, or open, reset or export a lesson."""
    if arguments.lesson is None:
        if arguments.reset:
            raise ConfigError("--reset names no lesson", "give its number: workbench course 1 --reset")
        print("\n".join(listing()))
        return 0
    if arguments.lesson == EXPORT:
        export(arguments)
        return 0
    lesson = lesson_of(arguments.lesson)
    if not arguments.reset:
        lab.serve(arguments, lesson.file)
    from workbench.course.progress import reset

    folder = writable_copy(arguments.folder)
    kept = set_aside(folder / lesson.file, shipped_folder() / lesson.file)
    writable_copy(arguments.folder)
    reset(lesson.number)
    print(f"lesson {lesson.number} begins anew" + (f"; your copy is kept as {kept.name}" if kept else ""))
    return 0


def export(arguments: argparse.Namespace) -> None:
    """Write a lesson, or a notebook of the teacher's own, for a grader."""
    from workbench.course.grader_export import for_grader

    for name, value in (("NUMBER", arguments.exported), ("--format", arguments.format)):
        if value is None:
            raise ConfigError(
                f"there is no {name}",
                "export so: workbench course export 7 --format nbgrader -o lesson7.ipynb",
            )
    own = Path(arguments.exported)
    source = own if own.suffix == ".ipynb" else shipped_folder() / lesson_of(arguments.exported).file
    try:
        book = json.loads(source.read_text(encoding="utf-8"))
        target = arguments.output or Path(source.name)
        if target.exists():
            raise ConfigError(f"{path_text(target)} exists", "give another name: -o FILE")
        write_atomically(target, json.dumps(for_grader(book, arguments.format), indent=1).encode("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{path_text(source)} cannot be exported: {error}", "give a notebook in Jupyter's format 4.5"
        ) from error
    print(f"{path_text(target)} is for {arguments.format}: solutions are in it, and marked")


def listing() -> list[str]:
    """Return a line for each lesson: number, title, exercises passed."""
    from workbench.course.exercise import exercises
    from workbench.course.progress import lesson_of as lesson_of_name
    from workbench.course.progress import progress

    kept = progress()
    lines = []
    for lesson in lessons():
        total = sum(lesson_of_name(name) == lesson.number for name in exercises())
        passed = f"{kept.passed(lesson.number)} of {counted(total, 'exercise')} passed"
        lines.append(f"{lesson.number:>2}  {lesson.title}: {passed}")
    return [*lines, "", "Open a lesson with its number: workbench course 1"]


def lessons() -> tuple[Lesson, ...]:
    """Return the shipped lessons in their order; the template has no number."""
    folder = shipped_folder() / FOLDER
    return tuple(_lesson(path) for path in sorted(folder.glob("[0-9]*.ipynb")))


def lesson_of(number: str) -> Lesson:
    """Return the lesson of this number."""
    wanted = number.lstrip("0")
    for lesson in lessons():
        if lesson.number == wanted:
            return lesson
    numbers = listed(lesson.number for lesson in lessons())
    raise ConfigError(f"there is no lesson {number!r}", f"give the number of a lesson: {numbers}")


def _lesson(path: Path) -> Lesson:
    book = json.loads(path.read_text(encoding="utf-8"))
    heading = "".join(book["cells"][0]["source"]).splitlines()[0]
    title = heading.removeprefix("# ").partition(". ")[2]
    return Lesson(path.name.partition("_")[0].lstrip("0"), title, f"{FOLDER}/{path.name}")
