"""`workbench course`: lists lessons with progress, opens a lesson, begins it anew."""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat
import pytest

from workbench.apps import course
from workbench.apps.cli import lab, main
from workbench.apps.cli.lessons import COURSE_FOLDER, lessons
from workbench.apps.cli.notebooks import shipped_folder
from workbench.apps.course.exercise import exercises
from workbench.apps.course.progress import Attempt, save

pytestmark = pytest.mark.usefixtures("own_home")


def test_the_list_has_each_lesson_with_the_readers_progress(capsys: pytest.CaptureFixture[str]) -> None:
    course.check("1.c", [], keep=True)
    assert main(["course"]) == 0
    before = capsys.readouterr().out.splitlines()
    assert before[0] == " 1  What a number is worth: 0 of 3 exercises passed"
    assert before[1] == " 2  What ORT does to a graph: 0 of 3 exercises passed"
    assert " 5  Threads and callers: 0 of 3 exercises passed" in before
    kept = course.progress().with_attempt(Attempt("1.c", True, 1))
    save(kept)
    assert main(["course"]) == 0
    assert "1 of 3 exercises passed" in capsys.readouterr().out.splitlines()[0]


def test_a_lesson_opens_by_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[str, int]] = []

    def serve(arguments: argparse.Namespace, notebook: str) -> None:
        opened.append((notebook, arguments.port))
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "serve", serve)
    main(["course", "02", "--port", "9000"])
    assert opened == [("course/02_what_ort_does_to_a_graph.ipynb", 9000)]


def test_the_serving_pack_is_listed_and_opens_by_its_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    def serve(_: argparse.Namespace, notebook: str) -> None:
        opened.append(notebook)
        raise KeyboardInterrupt

    main(["course"])
    assert "serving: From float32 to a server that holds its budget" in capsys.readouterr().out
    monkeypatch.setattr(lab, "serve", serve)
    main(["course", "serving"])
    assert opened == ["packs/serving/serving.ipynb"]
    assert (shipped_folder() / opened[0]).with_name("README.md").exists()


def test_a_pack_begins_anew_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab, "serve", lambda *_: pytest.fail("it was opened"))
    own = tmp_path / "packs" / "serving" / "serving.ipynb"
    own.parent.mkdir(parents=True)
    own.write_text("{}")
    assert main(["course", "serving", "--reset", "--folder", str(tmp_path)]) == 0
    assert "serving begins anew; your copy is kept as serving (before 1).ipynb" in capsys.readouterr().out
    assert own.read_bytes() == (shipped_folder() / "packs/serving/serving.ipynb").read_bytes()


@pytest.mark.parametrize("arguments", [["course", "99"], ["course", "first"], ["course", "--reset"]])
def test_what_is_no_lesson_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    fix = capsys.readouterr().err
    assert "Fix: give" in fix
    assert ("'10'" in fix) is (arguments[1] != "--reset"), "every number is named"


def test_reset_forgets_the_progress_and_keeps_the_readers_copy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "mine"
    course.predict("?", 3, name="1.noise")
    course.predict("?", 3, name="2.nodes")
    assert main(["course", "1", "--reset", "--folder", str(folder)]) == 0
    assert capsys.readouterr().out == "lesson 1 begins anew\n"
    file = folder / COURSE_FOLDER / "01_what_a_number_is_worth.ipynb"
    file.write_text("my answers")
    assert main(["course", "1", "--reset", "--folder", str(folder)]) == 0
    assert "(before 1)" in capsys.readouterr().out
    assert (file.parent / "01_what_a_number_is_worth (before 1).ipynb").read_text() == "my answers"
    assert nbformat.read(file, as_version=4).cells
    assert [guess.name for guess in course.progress().guesses] == ["2.nodes"]


def test_lab_opens_the_lesson_that_it_is_given(tmp_path: Path) -> None:
    settings = lab.options(tmp_path, "127.0.0.1", 8888, False, "course/a.ipynb")
    assert "--LabApp.default_url=/lab/tree/course/a.ipynb" in settings


def test_each_lesson_has_its_exercises_and_each_exercise_its_lesson() -> None:
    for lesson in lessons():
        book = nbformat.read(shipped_folder() / lesson.file, as_version=4)
        code = "\n".join(cell.source for cell in book.cells if cell.cell_type == "code")
        names = [name for name in exercises() if name.startswith(f"{lesson.number}.")]
        assert len(names) == 3
        for name in names:
            assert code.count(f'course.check("{name}", answer') == 2, "the exercise and its solution"
    numbers = {lesson.number for lesson in lessons()}
    assert {name.partition(".")[0] for name in exercises()} == numbers


def test_only_an_exercise_its_solution_or_a_look_at_the_article_defines_a_function() -> None:
    for path in sorted((shipped_folder() / COURSE_FOLDER).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            tags = cell.metadata.get("tags", ())
            defines = cell.cell_type == "code" and "def " in cell.source
            assert not defines or "exercise" in tags or "compare_with_article" in cell.source
