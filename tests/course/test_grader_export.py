"""Lessons for graders: nbgrader's cell metadata, version 3, and the cells that Otter Assign reads."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import jsonschema
import nbformat
import pytest

from workbench.cli import main
from workbench.cli.lessons import FOLDER
from workbench.cli.notebooks import shipped_folder
from workbench.course.grader_export import for_grader
from workbench.errors import ConfigError

LESSONS = sorted((shipped_folder() / FOLDER).glob("*.ipynb"))
# What nbgrader documents of version 3 of its cell metadata.
NBGRADER = {
    "type": "object",
    "properties": {
        "schema_version": {"type": "integer", "const": 3},
        **{name: {"type": "boolean"} for name in ("grade", "locked", "solution", "task")},
        "grade_id": {"type": "string", "pattern": "^[a-zA-Z0-9_\\-]+$"},
        "points": {"type": "number", "minimum": 0},
    },
    "required": ["schema_version", "grade", "locked", "solution", "grade_id"],
    "if": {"properties": {"grade": {"const": True}}},
    "then": {"required": ["points"]},
    "additionalProperties": False,
}


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def book(request: pytest.FixtureRequest) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(request.param.read_text(encoding="utf-8"))
    return read


def tagged(book: dict[str, Any], tag: str) -> list[dict[str, Any]]:
    return [cell for cell in book["cells"] if tag in cell["metadata"].get("tags", ())]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def test_nbgrader_finds_an_answer_and_a_graded_cell_for_each_exercise(book: dict[str, Any]) -> None:
    exported = for_grader(book, "nbgrader")
    nbformat.validate(nbformat.from_dict(exported))
    marked = [cell for cell in exported["cells"] if "nbgrader" in cell["metadata"]]
    marks = [cell["metadata"]["nbgrader"] for cell in marked]
    for mark in marks:
        jsonschema.validate(mark, NBGRADER)
    assert len({mark["grade_id"] for mark in marks}) == len(marks) == 2 * len(tagged(book, "solution"))
    for answer, graded in zip(marked[::2], marked[1::2], strict=True):
        assert answer["metadata"]["nbgrader"]["solution"]
        lines = source(answer).splitlines()
        begin, end = lines.index("### BEGIN SOLUTION"), lines.index("### END SOLUTION")
        assert lines[0].startswith("answer = None")
        assert begin + 1 < end < len(lines) - 1
        assert graded["metadata"]["nbgrader"]["grade"]
        assert graded["metadata"]["nbgrader"]["locked"]
        assert "keep=False" in source(graded)
        ast.parse(source(answer))
        ast.parse(source(graded))


def test_otter_finds_a_question_with_solution_and_test_for_each_exercise(book: dict[str, Any]) -> None:
    exported = for_grader(book, "otter")
    nbformat.validate(nbformat.from_dict(exported))
    assert source(exported["cells"][0]).startswith("# ASSIGNMENT CONFIG\n")
    raw = [source(cell).splitlines()[0] for cell in exported["cells"][1:] if cell["cell_type"] == "raw"]
    question = ["# BEGIN QUESTION", "# BEGIN SOLUTION", "# END SOLUTION", "# BEGIN TESTS", "# END TESTS"]
    assert raw == [*question, "# END QUESTION"] * len(tagged(book, "solution"))
    cells = exported["cells"]
    for at, cell in enumerate(cells):
        if source(cell) == "# BEGIN TESTS":
            test = cells[at + 1]
            assert source(test).endswith(".passed")
            assert test["outputs"][0]["data"]["text/plain"] == ["True"]
        if source(cell) == "# BEGIN SOLUTION":
            lines = source(cells[at + 1]).splitlines()
            assert lines.index("# BEGIN SOLUTION NO PROMPT") < lines.index("# END SOLUTION")
    names = [source(cell).splitlines()[1] for cell in cells if source(cell).startswith("# BEGIN QUESTION")]
    assert len(set(names)) == len(names)
    assert all(name.startswith("name: q") for name in names)


def test_no_solution_stays_unmarked(book: dict[str, Any]) -> None:
    for grader in ("nbgrader", "otter"):
        exported = for_grader(book, grader)  # type: ignore[arg-type]
        assert not tagged(exported, "solution")
        assert not [cell for cell in exported["cells"] if source(cell).startswith("A solution")]


def cell(cell_id: str, text: str, *tags: str) -> dict[str, Any]:
    return {"cell_type": "code", "id": cell_id, "metadata": {"tags": list(tags)}, "source": [text]}


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([cell("a", "answer = None\ncourse.check('x.y', answer)", "exercise")], "has no solution"),
        ([cell("a", "answer = 1\ncourse.check('x.y', answer)", "solution")], "follows no exercise"),
        (
            [cell("a", "answer = None", "exercise"), cell("b", "f(1)", "solution")],
            "does not end in a check",
        ),
        ([cell("a", "answer = None\nf(answer)", "exercise"), cell("b", "f(1)", "solution")], "has no name"),
    ],
)
def test_a_lesson_that_cannot_be_graded_says_why(cells: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        for_grader({"cells": cells}, "nbgrader")


def test_the_command_writes_a_lesson_for_a_grader(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "lesson.ipynb"
    command = ["course", "export", "1", "--format", "nbgrader", "-o", str(target)]
    assert main(command) == 0
    assert "is for nbgrader" in capsys.readouterr().out
    assert tagged(json.loads(target.read_text()), "exercise") == []
    assert main(command) == 2
    assert "exists" in capsys.readouterr().err


def test_the_command_exports_a_teachers_own_notebook(tmp_path: Path) -> None:
    target = tmp_path / "mine.ipynb"
    own = shipped_folder() / FOLDER / "template.ipynb"
    assert main(["course", "export", str(own), "--format", "otter", "-o", str(target)]) == 0
    assert "name: qmine_samples" in target.read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "no NUMBER"),
        (["1"], "no --format"),
        (["99", "--format", "otter"], "no lesson '99'"),
        (["absent.ipynb", "--format", "otter"], "cannot be exported"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["course", "export", *arguments]) == 2
    assert words in capsys.readouterr().err
