"""Each checker accepts the right answer and refuses the wrong ones, with a reason and a hint."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from string import Formatter

import pytest

from tests.apps.course.asked import asked
from tests.factories import comparisons, graphs, results
from workbench.apps import course
from workbench.apps.course import exercise
from workbench.apps.course.article import article_data
from workbench.apps.course.exercise import exercises
from workbench.core.config import Config
from workbench.core.errors import ConfigError
from workbench.features.compare.result import Comparison
from workbench.features.explain.result import Explanation
from workbench.features.variants.levels import Levels, LevelsRecord

FP16 = ("quantization-bert/FP16 (CUDA)/latency_ms", "pytorch-latency/BERT-Base/ort_cuda_ms")
LLAMA = ("pytorch-latency/LLaMA-7B/winner", "pytorch-latency/LLaMA-7B/ort_cuda_ms")


def of_pairs(t: float = 2.201) -> tuple[float, float, float]:
    """The right answer to 1.a, by the textbook."""
    logs = [math.log(fmean(pair.a_ms) / fmean(pair.b_ms)) for pair in course.saved_pairs()]
    half = t * stdev(logs) / math.sqrt(len(logs))
    return math.exp(fmean(logs)), math.exp(fmean(logs) - half), math.exp(fmean(logs) + half)


def pooled() -> tuple[float, float, float]:
    """What a reader gets who takes each sample for independent evidence."""
    sides = [
        [math.log(sample) for pair in course.saved_pairs() for sample in side(pair)]
        for side in (lambda pair: pair.a_ms, lambda pair: pair.b_ms)
    ]
    middle = fmean(sides[0]) - fmean(sides[1])
    half = 1.96 * math.sqrt(sum(stdev(side) ** 2 / len(side) for side in sides))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


def test_the_interval_of_the_pairs_is_accepted() -> None:
    result = course.check("1.a", of_pairs())
    assert result.passed
    assert result.hint == ""
    assert course.progress().passed("1") == 1


def test_pooled_samples_are_refused_with_the_reason() -> None:
    result = course.check("1.a", pooled())
    assert not result.passed
    assert "times too narrow" in result.text


def test_medians_in_place_of_means_are_accepted() -> None:
    logs = [math.log(sorted(pair.a_ms)[20] / sorted(pair.b_ms)[20]) for pair in course.saved_pairs()]
    half = 2.201 * stdev(logs) / math.sqrt(12)
    answer = tuple(math.exp(fmean(logs) + shift) for shift in (0, -half, half))
    assert course.check("1.a", answer).passed


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((1.0, 1.1, 1.2), "inside"),
        ((1.02, 0.5, 2.0), "Student"),
        (3, "three numbers"),
        (("a", "b", "c"), "three numbers"),
        ((10**400, 1, 2), "three numbers"),
    ],
)
def test_other_intervals_are_refused(answer: object, words: str) -> None:
    assert words in course.check("1.a", answer).text


def test_the_pairs_are_the_same_everywhere() -> None:
    assert course.saved_pairs() == course.saved_pairs()
    assert course.saved_pairs(1) != course.saved_pairs(2)
    assert course.saved_pairs()[0].a_ms[0] == pytest.approx(4.786037504615543)


@pytest.mark.parametrize("name", ["1.b", "5.c"])
@pytest.mark.parametrize(
    ("kind", "answer"),
    [("faster", "faster"), ("slower", "slower"), ("tie", "tie"), ("unknown", "not settled")],
)
def test_the_verdict_is_the_answer(name: str, kind: str, answer: str) -> None:
    runs = comparisons.drawn_run("A", 0.002), comparisons.drawn_run("B", 0.001)
    comparison = asked(comparisons.comparison(*runs, kind=kind), 20)
    assert course.check(name, answer, comparison=comparison).passed
    other = "slower" if answer == "faster" else "faster"
    assert not course.check(name, other, comparison=comparison).passed


def test_too_large_a_budget_is_no_pass() -> None:
    result = course.check("1.b", "faster", comparison=asked(comparisons.ordinary(), 60))
    assert result.correct
    assert result.within_budget is False
    assert not result.passed
    assert "took 60 s of at most 20 s" in result.text


def test_the_budget_stands_in_words_before_and_after_an_answer() -> None:
    comparison = asked(comparisons.ordinary(), 20)
    waiting = course.check("1.b", None, comparison=comparison)
    assert waiting.within_budget is None
    assert "at most 20 s of measuring</td>" in waiting._repr_html_()
    kept = course.check("1.b", "faster", comparison=comparison)
    assert kept.within_budget
    assert "at most 20 s of measuring: kept" in kept._repr_html_()
    exceeded = course.check("1.b", "faster", comparison=asked(comparisons.ordinary(), 60))
    assert "at most 20 s of measuring: exceeded" in exceeded._repr_html_()
    assert ">none</td>" in course.check("1.a", of_pairs())._repr_html_()


def test_a_limit_is_judged_for_a_right_answer_alone() -> None:
    result = course.check("4.b", "no config", model=None)
    assert (result.correct, result.within_budget) == (False, None)
    assert "at least 1.2 times faster: not looked at" in result._repr_html_()


def test_exercises_stand_lesson_by_lesson() -> None:
    names = list(exercises())
    assert names[:4] == ["1.a", "1.b", "1.c", "2.a"]
    assert names[-3:] == ["10.a", "10.b", "10.c"]


def test_the_words_for_wrong_answers_are_those_that_the_checkers_ask_for() -> None:
    asked_for: dict[tuple[str, str], set[str]] = {}
    for path in Path(exercise.__file__).parent.glob("*_lesson.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "wrong":
                name, cause = call.args
                for named in causes(cause):
                    asked_for[ast.literal_eval(name), named] = {str(word.arg) for word in call.keywords}
    words = {
        (name, cause): {field for _, field, _, _ in Formatter().parse(text) if field}
        for lesson in exercise.lesson_texts().values()
        for name, texts in lesson.get("wrong", {}).items()
        for cause, text in texts.items()
    }
    assert set(words) == set(asked_for)
    assert [place for place, fields in words.items() if not fields <= asked_for[place]] == []


def causes(node: ast.expr) -> list[str]:
    """The causes that an argument names: one, or one for each side of a condition."""
    if isinstance(node, ast.IfExp):
        return causes(node.body) + causes(node.orelse)
    return [str(ast.literal_eval(node))]


def test_an_exercise_about_time_or_a_limit_has_a_budget() -> None:
    budgets = {name for name, exercise in exercises().items() if exercise.budget_s or exercise.limit}
    assert set(exercises()) - budgets == {
        "1.a", "1.c", "2.a", "2.c", "3.c", "4.a", "4.c", "6.a", "6.c", "8.a", "8.c", "9.c", "10.c",
    }  # fmt: skip


def test_contradictions_are_accepted_in_any_order() -> None:
    assert course.check("1.c", [FP16, LLAMA[::-1]]).passed
    assert course.check("1.c", [LLAMA, (FP16[0], "provider-latency/BERT-Base/cuda_ms")]).passed


def test_every_cell_of_a_contradiction_exists() -> None:
    known = {name for table in article_data().tables.values() for name in table.cells()}
    assert {name for pair in article_data().contradictions for name in pair} <= known


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ([FP16, FP16], "Two different pairs"),
        ([FP16, ("a", "b")], "no cell 'a'"),
        ([FP16, (FP16[0], "provider-latency/BERT-Base/cpu_ms")], "not on our list: say which condition"),
        (7, "no list"),
    ],
)
def test_other_pairs_of_cells_are_refused(answer: object, words: str) -> None:
    assert words in course.check("1.c", answer).text


def removed_node() -> tuple[Explanation, str, str]:
    """An explanation, a node that a pass removed, and the pass."""
    explanation = Explanation(graphs.fused())
    changes = explanation.provenance.account.changes
    change = next(change for change in changes if change.removed)
    return explanation, change.removed[0], change.name


def test_the_pass_that_removed_a_node_is_accepted() -> None:
    explanation, node, name = removed_node()
    assert course.check("2.a", name, explanation=explanation, node=node).passed
    assert not course.check("2.a", "NoSuchPass", explanation=explanation, node=node).passed
    assert "No pass removed" in course.check("2.a", name, explanation=explanation, node="?").text


def by_level(kinds: dict[str, str]) -> Comparison:
    """The default against lower levels, with these verdicts."""
    runs = [comparisons.drawn_run("A", 0.002)]
    for label, level in zip("BCD", kinds, strict=False):
        runs.append(replace(comparisons.drawn_run(label, 0.002), config=Config(level=level)))
    record = comparisons.comparison(*runs)
    verdicts = tuple(
        replace(verdict, kind=kind) for verdict, kind in zip(record.verdicts, kinds.values(), strict=True)
    )
    return asked(replace(record, verdicts=verdicts), 40)


@pytest.mark.parametrize(
    ("kinds", "right"),
    [
        ({"disabled": "slower", "basic": "tie", "extended": "faster"}, Config(level="basic")),
        ({"disabled": "slower", "basic": "unknown", "extended": "faster"}, Config(level="extended")),
        ({"disabled": "slower", "basic": "unknown", "extended": "slower"}, Config()),
    ],
)
def test_the_fewest_optimizations_are_accepted(kinds: dict[str, str], right: Config) -> None:
    comparison = by_level(kinds)
    assert course.check("2.b", right, comparison=comparison).passed
    for wrong in (Config(level="disabled"), Config(level="layout"), "basic"):
        assert not course.check("2.b", wrong, comparison=comparison).passed


def test_the_default_was_measured_where_a_lower_level_does() -> None:
    comparison = by_level({"disabled": "slower", "basic": "tie"})
    assert course.check("2.b", Config(), comparison=comparison).text == "C does with fewer optimizations."
    assert "did not measure" in course.check("2.b", Config(level="all"), comparison=comparison).text


def test_other_outputs_are_not_accepted() -> None:
    comparison = by_level({"basic": "tie"})
    rows = tuple(replace(row, sqnr_db=30.0) for row in comparison.agreement)
    other = Comparison(replace(comparison.record, agreement=rows))
    assert not course.check("2.b", Config(level="basic"), comparison=other).passed


def of_levels(ops: dict[str, tuple[tuple[str, int], ...]]) -> Levels:
    record = results.levels()
    row = record.rows[0]
    rows = tuple(replace(row, name=level, ops=counts) for level, counts in ops.items())
    return Levels(LevelsRecord("net", rows, record.comparison))


def test_the_level_of_the_blocked_layout_is_read_from_the_graphs() -> None:
    plain, blocked = (("Conv", 3),), (("com.microsoft.nchwc::Conv", 3),)
    levels = of_levels({"disabled": plain, "extended": plain, "layout": blocked, "all": blocked})
    assert course.check("2.c", "layout", levels=levels).passed
    assert "The article says so" in course.check("2.c", "extended", levels=levels).text
    assert not course.check("2.c", "all", levels=levels).passed
    assert course.check("2.c", "none", levels=of_levels({"all": plain})).passed


def test_hints_move_on_with_each_wrong_answer_and_the_last_stays() -> None:
    texts = [course.check("1.a", (1.0, 0.9, 1.1)).hint for _ in range(3)]
    assert texts == [*exercises()["1.a"].hints, exercises()["1.a"].hints[-1]]


@pytest.mark.parametrize("answer", [None, ...])
def test_no_answer_is_no_attempt(answer: object) -> None:
    result = course.check("1.a", answer)
    assert str(result).startswith("No answer yet.")
    assert course.progress().attempts == ()


def test_the_solution_of_a_lesson_counts_as_no_attempt() -> None:
    result = course.check("1.a", of_pairs(), keep=False)
    assert result.passed
    assert "Exercise 1.a, not counted" in result._repr_html_()
    assert "not counted" not in course.check("1.a", None)._repr_html_()
    assert course.progress().attempts == ()


def test_a_passed_exercise_stays_passed() -> None:
    course.check("1.a", of_pairs())
    course.check("1.a", (1.0, 0.9, 1.1))
    assert course.progress().attempt("1.a").passed


def test_a_teacher_gives_a_number_or_a_function_and_a_budget() -> None:
    assert course.check("mine.a", 3.01, expected=3, tolerance=0.1).passed
    assert "too high" in course.check("mine.a", 4, expected=3).text
    assert not course.check("mine.a", "3", expected=3).passed
    assert not course.check("mine.a", float("nan"), expected=3).passed
    assert course.check("mine.b", "layout", expected="layout").passed

    def checker(answer: str, *, text: str) -> str | None:
        return None if answer in text else "It does not stand there."

    assert course.check("mine.c", "b", checker=checker, text="abc").passed
    result = course.check("mine.c", "b", checker=checker, text="abc", spent=3, budget=2, unit="runs")
    assert "took 3 runs of at most 2 runs" in result.text
    assert ">at most 2 runs: exceeded</td>" in result._repr_html_()
    assert course.check("mine.a", 3, expected=3, budget=2).within_budget is None


def test_an_exercise_that_nobody_made_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"no exercise '9\.z'"):
        course.check("9.z", 1)


def test_what_is_displayed_is_escaped() -> None:
    result = course.check("mine.a", 1, checker=lambda _: "<b>", hints=("<i>",))
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;" in result._repr_html_()
    assert "&lt;i&gt;" in result._repr_html_()
