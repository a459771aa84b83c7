"""Guesses and attempts are kept, final once the answer was displayed, and forgotten on request."""

from __future__ import annotations

from pathlib import Path

import ipywidgets as W
import pytest

from tests.apps.widgets import buttons, htmls, single
from workbench.apps import course
from workbench.apps.course.prediction import Predicted
from workbench.apps.course.progress import PROGRESS_FILE, LessonProgress, lesson_of
from workbench.core.errors import ConfigError


def test_a_guess_is_kept_and_found_again() -> None:
    course.predict("How many nodes?", 300, name="2.nodes")
    assert course.predict("How many nodes?", name="2.nodes").value == 300
    assert len(course.progress().guesses) == 1


def test_a_guess_may_change_until_the_answer_is_displayed() -> None:
    guess = course.predict("How far apart?", 5, name="1.noise", unit="%")
    guess.keep(6)
    outcome = guess.against(3.0)
    assert str(outcome) == "You guessed 6 %; measured here: 3 %. The guess is 2 times too high."
    with pytest.raises(ConfigError, match=r"final(.|\n)*wb\.course\.reset\('1'\)"):
        guess.keep(3)
    assert course.predict("How far apart?", 6, name="1.noise").value == 6, "running the cell again is fine"


def test_one_of_a_unit_is_singular() -> None:
    assert "You guessed 2 passes; measured here: 1 pass." in str(Predicted(2.0, 1, "passes"))
    assert "You guessed 1 times; measured here: 1.5 times." in str(Predicted(1.0, 1.5, "times"))
    assert "You guessed 1 ms; measured here: 1.25 ms." in str(Predicted(1.0, 1.25, "ms"))


def test_without_a_guess_the_lesson_goes_on() -> None:
    outcome = course.predict("How far apart?", name="1.noise", unit="%").against(3.0)
    assert str(outcome) == "Measured here: 3 %. You kept no guess this time."
    assert course.progress().guesses == ()


def test_no_guess_is_kept_once_the_answer_was_displayed() -> None:
    guess = course.predict("How far apart?", name="1.noise", unit="%")
    for _ in range(2):
        assert "no guess" in str(guess.against(3.0))
    again = course.predict("How far apart?", name="1.noise", unit="%")
    with pytest.raises(ConfigError, match=r"final(.|\n)*wb\.course\.reset\('1'\)"):
        again.keep(3)
    assert again.value is None
    assert single(again.widget(), W.Button).disabled
    assert course.progress().guesses == ()
    course.reset(1)
    assert course.progress() == LessonProgress()
    again.keep(3)
    assert again.value == 3


def test_nothing_measured_leaves_the_guess_open() -> None:
    guess = course.predict("How far apart?", 5, name="1.noise", unit="%")
    assert "stays open" in str(guess.against(None))
    guess.keep(6)
    assert guess.value == 6


@pytest.mark.parametrize(
    ("guess", "measured", "words"),
    [
        (2.0, 2.0, "Exactly right."),
        (1.0, 4.0, "4 times too low"),
        (0.0, 4.0, "too low"),
        (-1.0, -4.0, "too high"),
        (12_345, 12_346, "You guessed 12,345; measured here: 12,346. The guess is too low."),
    ],
)
def test_numbers_are_set_side_by_side(guess: float, measured: float, words: str) -> None:
    assert words in str(course.predict("?", guess, name="t.n").against(measured))


def test_a_choice_is_one_of_its_choices() -> None:
    choices = ("basic", "layout")
    assert "As you guessed." in str(
        course.predict("?", "layout", name="2.l", choices=choices).against("layout")
    )
    with pytest.raises(ConfigError, match="'all' is no choice"):
        course.predict("?", "all", name="2.m", choices=choices)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), True, "many", 10**400])
def test_a_number_is_a_finite_number(value: float | str) -> None:
    with pytest.raises(ConfigError, match="is no number"):
        course.predict("?", value, name="1.n")


@pytest.mark.parametrize("name", ["", "1", "1.", ".a"])
def test_a_name_has_a_lesson(name: str) -> None:
    with pytest.raises(ConfigError, match="names no exercise"):
        course.predict("?", 1, name=name)


def test_the_widget_keeps_the_guess_and_shows_an_error() -> None:
    guess = course.predict("How far <apart>?", name="1.noise", unit="%")
    widget = guess.widget()
    field, button = single(widget, W.FloatText), single(widget, W.Button)
    assert "&lt;apart&gt;" in next(htmls(widget))
    field.value = 4.5
    button.click()
    assert guess.value == 4.5
    assert "Kept: 4.5 %." in htmls(widget)
    guess.against(1.0)
    field.value = 1.0
    button.click()
    assert "final" in "".join(htmls(widget))
    assert guess.value == 4.5
    assert single(guess.widget(), W.Button).disabled


@pytest.mark.parametrize("choices", [("slower", "faster"), ()])
def test_a_guess_that_an_update_of_the_lesson_no_longer_offers_is_displayed_and_replaced(
    choices: tuple[str, ...],
) -> None:
    course.predict("How fast?", "as fast", name="2.level", choices=("as fast", "slower"))
    guess = course.predict("How fast?", name="2.level", choices=choices)
    widget = guess.widget()
    assert "Kept: as fast." in htmls(widget)
    buttons(widget)["Keep my guess"].click()
    field = single(widget, W.Dropdown if choices else W.FloatText)
    assert guess.value == field.value == (choices[0] if choices else 0.0)


def test_a_cell_shows_the_question_without_a_kernel_too() -> None:
    data = course.predict("How <far>?", name="1.noise")._repr_mimebundle_()
    assert "&lt;far&gt;" in data["text/html"]
    assert data["text/plain"] == "How <far>? No guess yet."
    assert "application/vnd.jupyter.widget-view+json" in data


def test_reset_forgets_one_lesson() -> None:
    course.predict("?", 1, name="1.n")
    course.predict("?", 2, name="2.n")
    course.check("1.own", 3, expected=3)
    course.reset(1)
    assert [guess.name for guess in course.progress().guesses] == ["2.n"]
    assert course.progress().attempts == ()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"guesses": [[1]], "attempts": []}', "[" * 100_000])
def test_a_damaged_file_is_no_progress(home: Path, text: str) -> None:
    (home / "data").mkdir(parents=True)
    (home / "data" / PROGRESS_FILE).write_text(text)
    assert course.progress() == LessonProgress()


def test_a_home_that_cannot_be_written_stops_no_lesson(home: Path) -> None:
    home.write_text("a file")
    with pytest.warns(UserWarning, match="not kept"):
        guess = course.predict("?", 5, name="1.n")
    assert guess.value == 5


def test_budgets_are_short_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORKBENCH_BUDGET", raising=False)
    assert course.seconds(20) == 20
    monkeypatch.setenv("WORKBENCH_BUDGET", "short")
    assert [course.seconds(full) for full in (1, 20, 40)] == [1, 3, 6]


def test_a_name_begins_with_its_lesson() -> None:
    assert lesson_of("10.c") == "10"
