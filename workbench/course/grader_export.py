"""A lesson for a grader: the cell metadata of nbgrader, or the cells that Otter Assign reads.

nbgrader: version 3 of its cell metadata (nbgrader/nbgraderformat/v3.json in its repository). Otter: the first
version of Otter Assign's notebook format, raw cells with YAML (docs/otter_assign in its repository).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from workbench.errors import ConfigError

Notebook = dict[str, Any]
Cell = dict[str, Any]
Grader = Literal["nbgrader", "otter"]
GRADERS: tuple[Grader, ...] = ("nbgrader", "otter")
NBGRADER_SCHEMA = 3
POINTS = 1
EXERCISE, SOLUTION = "exercise", "solution"


@dataclass(frozen=True, slots=True)
class GraderTask:
    """One exercise: what the student begins with, the solution, and the call that checks the answer."""

    name: str
    start: str  # "answer = None" and what the check needs
    solution: str
    check: str  # the call as the student runs it
    graded: str  # the same, which counts no attempt

    @property
    def key(self) -> str:
        """The name with letters that both graders take."""
        return re.sub(r"[^A-Za-z0-9]", "_", self.name)


def for_grader(book: Mapping[str, Any], grader: Grader) -> Notebook:
    """Return the lesson as the teacher's notebook of a grader: solutions in it, and marked."""
    if grader not in GRADERS:
        raise ConfigError(f"there is no export for {grader!r}", f"choose one of {', '.join(GRADERS)}")
    cells = list(_exported(book["cells"], grader))
    if grader == "otter":
        cells.insert(0, _raw("assignment", "# ASSIGNMENT CONFIG\nexport_cell: false"))
    return {**book, "cells": cells}


def _exported(cells: list[Cell], grader: Grader) -> Iterator[Cell]:
    exercise: Cell | None = None
    for cell in cells:
        tags = cell["metadata"].get("tags", ())
        if SOLUTION in tags:
            if exercise is None:
                raise ConfigError(
                    f"the solution {cell['id']!r} follows no exercise", "tag the cell before it as exercise"
                )
            task = _task(exercise, cell)
            yield from _nbgrader(exercise, task) if grader == "nbgrader" else _otter(exercise, task)
            exercise = None
        elif EXERCISE in tags:
            exercise = cell
        elif exercise is None:  # what leads from an exercise to its solution would give it away
            yield cell
    if exercise is not None:
        raise ConfigError(
            f"the exercise {exercise['id']!r} has no solution", "add one below it, tagged as solution"
        )


def _task(exercise: Cell, solution: Cell) -> GraderTask:
    """Read an exercise and its solution, each of which ends in the check."""
    start, check, call = _split(exercise)
    answer, _, _ = _split(solution)
    call.keywords = [
        *(keyword for keyword in call.keywords if keyword.arg != "keep"),
        ast.keyword("keep", ast.Constant(False)),
    ]
    name = call.args[0] if call.args else None
    if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        raise ConfigError(
            f"the check of {exercise['id']!r} has no name", 'give one: course.check("mine.speed", …)'
        )
    return GraderTask(name.value, start, answer, check, ast.unparse(call))


def _split(cell: Cell) -> tuple[str, str, ast.Call]:
    """Return the lines before the check, the check as it stands, and its call."""
    source = "".join(cell["source"])
    last = ast.parse(source).body[-1]
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        raise ConfigError(
            f"the cell {cell['id']!r} does not end in a check", "end it in a line such as course.check(…)"
        )
    lines = source.splitlines()
    before = "\n".join(lines[: last.lineno - 1]).rstrip()
    return before, "\n".join(lines[last.lineno - 1 :]), last.value


def _nbgrader(exercise: Cell, task: GraderTask) -> Iterator[Cell]:
    """Yield the cell to answer in, and the one that is graded."""
    begin, end = "### BEGIN SOLUTION", "### END SOLUTION"
    answer = _code(exercise["id"], "\n".join([task.start, begin, task.solution, end, task.check]))
    answer["metadata"]["nbgrader"] = _marks(f"exercise-{task.key}", solution=True)
    graded = _code(f"{exercise['id']}-graded", f"result = {task.graded}\nassert result.passed, result")
    graded["metadata"]["nbgrader"] = _marks(f"check-{task.key}", grade=True, locked=True, points=POINTS)
    yield answer
    yield graded


def _marks(grade_id: str, **marks: int) -> Cell:
    unmarked = dict.fromkeys(("grade", "solution", "locked", "task"), False)
    return {"schema_version": NBGRADER_SCHEMA, "grade_id": grade_id, **unmarked, **marks}


def _otter(exercise: Cell, task: GraderTask) -> Iterator[Cell]:
    """Yield a question with its solution and its test, between the raw cells that Otter reads."""
    own = exercise["id"]
    begin, end = "# BEGIN SOLUTION NO PROMPT", "# END SOLUTION"
    test = _code(f"{own}-test", f"{task.graded}.passed")
    data = {"text/plain": ["True"]}
    test["outputs"] = [{"output_type": "execute_result", "execution_count": 1, "metadata": {}, "data": data}]
    test["execution_count"] = 1
    yield _raw(f"{own}-question", f"# BEGIN QUESTION\nname: q{task.key}\npoints: {POINTS}")
    yield _raw(f"{own}-begin", "# BEGIN SOLUTION")
    yield _code(own, "\n".join([task.start, begin, task.solution, end, task.check]))
    yield _raw(f"{own}-end", "# END SOLUTION")
    yield _raw(f"{own}-tests", "# BEGIN TESTS")
    yield test
    yield _raw(f"{own}-tests-end", "# END TESTS")
    yield _raw(f"{own}-question-end", "# END QUESTION")


def _code(cell_id: str, source: str) -> Cell:
    empty: Cell = {"metadata": {}, "execution_count": None, "outputs": []}
    return {"cell_type": "code", "id": cell_id, **empty, "source": source.splitlines(keepends=True)}


def _raw(cell_id: str, source: str) -> Cell:
    lines = source.splitlines(keepends=True)
    return {"cell_type": "raw", "id": cell_id, "metadata": {}, "source": lines}
