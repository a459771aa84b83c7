"""The decision log: three sentences with the result's numbers, and a rubric in each lesson."""

from __future__ import annotations

import re
from dataclasses import replace

import nbformat
import pytest

import workbench as wb
from tests.factories import results
from tests.factories.comparisons import ordinary
from workbench.apps import course
from workbench.apps.cli.lessons import Lesson, lessons
from workbench.apps.cli.notebooks import shipped_folder
from workbench.apps.course.decision import facts_of
from workbench.apps.course.hand_in import handed_in
from workbench.core.bundle.estimate import Estimate
from workbench.core.errors import ConfigError


@pytest.mark.parametrize("lesson", range(1, 11))
def test_each_lesson_has_samples_of_its_own_for_each_criterion(lesson: int) -> None:
    rubric = course.rubric(f"{lesson:02}")
    assert list(rubric) == ["numbers", "cause", "limits"]
    samples = [sample for _, *both in rubric.values() for sample in both]
    assert len(set(samples)) == 6
    _, good, bad = rubric["numbers"]
    assert any(letter.isdigit() for letter in good)
    assert all(sample in rubric._repr_html_() for sample in (bad,))
    others = {str(course.rubric(other)) for other in range(1, 11) if other != lesson}
    assert str(rubric) not in others


def test_numbers_of_the_result_are_filled_in() -> None:
    comparison = wb.Comparison(ordinary())
    log = course.decision(
        comparison,
        should=" use one thread: {effect} ",
        because="{model} is small",
        unless="{low} is too little",
    )
    assert tuple(log) == (
        "We should use one thread: 1.83 times as fast as A (1.79 to 1.88)",
        "because tiny is small",
        "unless 1.79 is too little",
    )


def test_an_end_of_zero_is_known() -> None:
    record = results.ablation()
    rows = (replace(record.rows[0], effect="unknown", ratio=Estimate(1.1, 1.0, 1.2)),)
    facts = facts_of(wb.Ablation(replace(record, rows=rows)))
    assert "0" in (facts["low"], facts["high"])


@pytest.mark.parametrize("kind", results.every_kind())
def test_every_result_has_facts_and_none_is_empty(kind: str) -> None:
    assert all(facts_of(results.every_kind()[kind]).values())


def test_a_sentence_that_is_missing_or_names_nothing_is_refused() -> None:
    comparison = wb.Comparison(ordinary())
    with pytest.raises(ConfigError, match="'because' … is empty"):
        course.decision(comparison, should="a", because=" ", unless="c")
    with pytest.raises(ConfigError, match=r"no '0\.__class__'"):
        course.decision(comparison, should="{0.__class__}", because="b", unless="c")
    with pytest.raises(ConfigError, match="no lesson '11'"):
        course.rubric("11")


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.number)
def test_each_lesson_says_how_its_result_is_handed_in(lesson: Lesson) -> None:
    cells = {cell.id: cell.source for cell in nbformat.read(shipped_folder() / lesson.file, 4).cells}
    (call,) = re.findall(r'course\.hand_in\("(.+)", (\w+), decision=decision\)', cells["hand-in"])
    name, exercise = handed_in(call[0])
    assert handed_in(f"{int(lesson.number):02}") == (name, exercise)
    assert name.startswith(f"{lesson.number}.")
    (subject,) = re.findall(r"course\.decision\((\w+), ", cells["hand-in"])
    assert f"{subject} = " in "".join(cells.values())
    assert cells["rubric"] == f'course.rubric("{int(lesson.number):02}")'
    if exercise.given is None:
        assert f"{call[1]} = wb.explain(" in "".join(cells.values())
    else:
        assert f'check("{name}", answer, {exercise.given}={call[1]})' in "".join(cells.values())
