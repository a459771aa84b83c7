"""Handing in and grading: every file of a class is classified, and nothing of a stranger's file runs."""

from __future__ import annotations

import csv
import io
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import workbench as wb
from tests.apps.course import submissions
from tests.apps.course.asked import asked
from tests.factories import results
from tests.factories.comparisons import drawn_run, ordinary
from workbench.apps.cli import main
from workbench.apps.cli.notebooks import shipped_folder
from workbench.apps.course.board import GUESSES, gather
from workbench.apps.course.grading import grade
from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import ConfigError, StorageError

pytestmark = pytest.mark.usefixtures("coarse")
HEADS = ["Identifier", "Full name", "Grade", "Maximum Grade", "Feedback comments"]


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    (tmp_path / "submissions").mkdir()
    return tmp_path / "submissions"


@pytest.fixture
def folder(empty: Path) -> Path:
    submissions.write(empty)
    return empty


def test_a_class_of_forty_is_classified_and_nothing_runs(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(subprocess, "Popen", None)  # no worker starts, so nothing can be measured
    before = sorted(tmp_path.rglob("*"))
    assert main(["course", "grade", str(folder), "--exercise", "03", "-o", "grades.csv"]) == 0
    assert sorted(path for path in tmp_path.rglob("*") if path.name != "grades.csv") == before
    grades = grade(folder, "03")
    assert len(grades) == 40
    assert Counter(row.status for row in grades) == submissions.EXPECTED
    assert all(row.reason for row in grades)
    assert str(grades) in capsys.readouterr().out
    rows = list(csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text())))
    assert list(rows[0])[:5] == HEADS
    assert len({row["Identifier"] for row in rows}) == len(rows) == 39
    assert rows[0]["Identifier"].startswith("Participant 10")
    assert Counter(row["Grade"] for row in rows) == {"1": 16, "0": 8, "": 15}


def test_each_says_in_a_sentence_why(folder: Path) -> None:
    rows = grade(folder, "3.a")
    reasons = {row.status: row.reason for row in rows}
    assert "another one" in reasons["wrong"] or "neither" in reasons["wrong"]
    assert "took 90 s of at most 60 s" in reasons["over budget"]
    assert reasons["other exercise"] == "It is of another lesson: exercise 5.a, not 3.a."
    copied = [row for row in rows if row.status == "copied"]
    assert all(row.grade is None and "Student" in row.note for row in copied)
    assert all("Student" not in row.reason for row in copied), "feedback names nobody else"


def test_a_late_file_is_marked_by_its_time_and_by_the_platform(empty: Path) -> None:
    hand_in(empty).rename(empty / "lovelaceada_LATE_4711_99_exercise-3a.ortbench")
    hand_in(empty).rename(empty / "hoppergrace_4712_99_exercise-3a.ortbench")
    assert [row.late for row in grade(empty)] == [False, True]
    assert [row.late for row in grade(empty, due="2020-01-31T23:59")] == [True, True]
    assert [row.student.identifier for row in grade(empty)] == ["4712", "4711"]
    for due in ("tomorrow", "0001-01-01T00:00"):
        with pytest.raises(ConfigError, match="is no time"):
            grade(empty, due=due)


def test_a_name_is_no_formula_of_a_spreadsheet(empty: Path) -> None:
    hand_in(empty / "=cmd(1)_1_assignsubmission_file_")
    (empty / "+Nobody_2_assignsubmission_file_").mkdir()
    rows = list(csv.DictReader(io.StringIO(grade(empty).csv(10))))
    assert [row["Full name"] for row in rows] == ["'=cmd(1)", "'+Nobody"]
    assert [row["Grade"] for row in rows] == ["10", ""]
    assert rows[1]["Status"] == "nothing handed in"


def hand_in(folder: Path, answer: Any = "Skip") -> Path:
    return wb.course.hand_in(
        "3",
        submissions.ablation(len(list(folder.rglob("*"))) if folder.exists() else 0),
        answer,
        folder=folder,
    ).path


def test_the_last_checked_answer_is_handed_in_with_guesses_and_decision(empty: Path) -> None:
    ablation = submissions.ablation(1)
    wb.course.predict("What does it do?", "hurts", name="3.skip", choices=("helps", "hurts"))
    wb.course.check("3.a", "Skip", ablation=ablation)
    log = wb.course.decision(
        ablation, should="leave it out on {processor}", because="it costs {effect}", unless="it is wider"
    )
    with pytest.raises(wb.ConfigError, match="is no decision"):
        wb.course.hand_in("03", ablation, decision=str(log), folder=empty)  # type: ignore[arg-type]
    handed = wb.course.hand_in("03", ablation, decision=log, folder=empty)
    assert str(handed.path) in repr(handed)
    (row,) = grade(empty)
    assert (row.status, row.exercise) == ("right", "3.a")
    assert row.decision == tuple(log)
    assert "{" not in str(log)
    assert str(wb.open(handed.path)) == str(ablation), "a teacher opens it as any result"


def test_what_is_not_handed_in_is_refused(empty: Path) -> None:
    roofline = results.every_kind()["roofline"]
    wb.course.check("4.a", None, roofline=roofline)
    with pytest.raises(ConfigError, match="no answer yet"):
        wb.course.hand_in("04", roofline, folder=empty)
    for answer in (float("nan"), 10**400):
        with pytest.raises(ConfigError, match="is no answer"):
            wb.course.hand_in("4.c", roofline, answer, folder=empty)
    assert not list(empty.iterdir())
    with pytest.raises(ConfigError, match="of kind 'ablation'"):
        wb.course.hand_in("03", wb.Threads(results.threads()), "Skip", folder=empty)
    with pytest.raises(ConfigError, match="no exercise that is handed in"):
        wb.course.hand_in("99", submissions.ablation(1), "Skip", folder=empty)
    with pytest.raises(ConfigError, match="no 'speed'"):
        wb.course.decision(submissions.ablation(1), should="{speed}", because="b", unless="c")
    (empty.parent / "a file").touch()
    with pytest.raises(StorageError, match="cannot be made"):
        wb.course.hand_in("03", submissions.ablation(1), "Skip", folder=empty.parent / "a file")
    submissions.ablation(1).save(empty / "plain.ortbench")
    (row,) = grade(empty)
    assert (row.status, row.reason.endswith("It was saved, but not handed in.")) == ("cannot be opened", True)


def test_a_config_is_an_answer(empty: Path) -> None:
    study = wb.Study(results.study())
    wb.course.hand_in("10", study, study.best, folder=empty)
    assert [row.exercise for row in grade(empty)] == ["10.a"]


def test_the_board_draws_each_measurement_once_and_names_nobody(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "board.html"
    assert main(["course", "gather", str(folder), "-o", str(page)]) == 0
    board = gather(folder)
    assert (board.exercise, len(board.rows), board.left_out) == ("3.a", 26, 14)
    assert str(board).startswith("Exercise 3.a, 26 hand-ins: a fusion costs time in 26, not in 0")
    frame = board.to_frame()
    assert frame["effect"].is_monotonic_increasing
    assert len(board.chart().rows) == 26
    assert "Student" not in page.read_text()
    assert "Student" not in str(board) + frame.to_csv()


def test_the_number_of_a_lesson_names_the_exercise_that_its_notebook_hands_in(empty: Path) -> None:
    wb.course.predict("Signed against unsigned?", "slower", name="7.signed", choices=("faster", "slower"))
    wb.course.hand_in("07", asked(ordinary(), 30), "int8", folder=empty)
    wb.course.hand_in("7.b", wb.Sensitivity(results.sensitivity()), "none", folder=empty)
    statuses = {row.exercise: row.status for row in grade(empty, "07")}
    assert statuses == {"7.b": "other exercise", "7.c": "right"}
    board = gather(empty, "07")
    assert (board.exercise, [row.guess for row in board.rows]) == ("7.c", ["slower"])


def test_each_guess_that_the_board_draws_is_asked_for_in_a_lesson() -> None:
    books = "".join(path.read_text("utf-8") for path in shipped_folder().glob("course/*.ipynb"))
    assert [guess for guess in GUESSES.values() if f'name=\\"{guess}\\"' not in books] == []


def test_no_effect_is_drawn_above_a_loss(empty: Path) -> None:
    for number, ratio in enumerate((Estimate(1.0, 0.7, 1.4), Estimate(1.1, 1.05, 1.2))):
        made = submissions.ablation(number)
        rows = tuple(replace(row, ratio=ratio) for row in made.record.rows)
        wb.course.hand_in(
            "3", wb.Ablation(replace(made.record, rows=rows)), "Skip", folder=empty / str(number)
        )
    assert gather(empty).to_frame()["effect"].is_monotonic_increasing


def test_a_winner_that_fresh_rounds_do_not_confirm_was_luck(empty: Path) -> None:
    study = results.study()
    best = study.candidate(study.winner)
    wb.course.predict("How much?", 3, name="10.gain", unit="times")
    wb.course.hand_in("10", wb.Study(study), wb.Study(study).best, folder=empty / "a")
    (confirmed,) = study.confirmations
    runs = tuple(
        replace(drawn_run(run.label, 0.003), config=run.config) for run in confirmed.runs
    )  # another machine's
    verdict = replace(confirmed.verdict, kind="unknown", ratio=1.0, low=0.9, high=1.1)
    fresh = replace(confirmed, id="other", runs=runs, verdicts=(verdict,))
    unlucky = wb.Study(replace(study, id="other", confirmations=(fresh,), best="A"))
    wb.course.hand_in("10", unlucky, best.config, folder=empty / "b")
    board = gather(empty)
    assert [row.lucky for row in board.rows] == [True, False]
    assert {row.guess for row in board.rows} == {3}
    assert "1 were luck" in str(board)


def test_a_board_needs_an_exercise_with_a_ratio(empty: Path) -> None:
    with pytest.raises(ConfigError, match="no hand-in with a ratio"):
        gather(empty)
    with pytest.raises(ConfigError, match="measures no ratio"):
        gather(empty, "04")
