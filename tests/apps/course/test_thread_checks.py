"""The checkers of the lesson on threads: right and wrong answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import results
from workbench.apps import course
from workbench.features.load.result import LoadTest
from workbench.features.variants.threads import Threads


@pytest.fixture
def threads() -> Threads:
    times = ((1, True, 0.010), (2, True, 0.0060), (4, True, 0.0058), (8, True, 0.020), (1, False, 0.001))
    points = [results.thread_point(count, spinning, latency_s) for count, spinning, latency_s in times]
    return Threads(results.scaling(*points, results.thread_point(16, True, None, None, "it hung")))


@pytest.mark.parametrize("answer", [2, 4])
def test_a_count_near_the_best_is_enough(threads: Threads, answer: int) -> None:
    assert course.check("5.a", answer, threads=threads).passed


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (1, "1.72 times as long"),
        (8, "3.45 times as long"),
        (16, "were not measured; these were: 1, 2, 4, 8."),
        (True, "no number"),
        ("2", "no number"),
    ],
)
def test_another_count_is_refused(threads: Threads, answer: object, words: str) -> None:
    result = course.check("5.a", answer, threads=threads)
    assert words in result.text
    assert result.correct is ("times as long" in words)
    assert result.within_budget is (False if result.correct else None)


def p99_s(load: LoadTest, label: str) -> float:
    value = next(row.p99.value for row in load.points if row.run.label == label and row.point.callers == 2)
    assert value is not None
    return value


def test_the_most_throughput_within_the_goal_is_the_answer() -> None:
    load = LoadTest(results.load_test())
    wide = 2 * p99_s(load, "B")
    assert course.check("5.b", "A", load=load, callers=2, p99_s=wide).passed
    assert "answers more requests" in course.check("5.b", "B", load=load, callers=2, p99_s=wide).text
    assert "keeps the p99" in course.check("5.b", "none", load=load, callers=2, p99_s=wide).text


def test_what_exceeds_the_goal_is_refused() -> None:
    load = LoadTest(results.load_test())
    between = (p99_s(load, "A") + p99_s(load, "B")) / 2
    late = course.check("5.b", "B", load=load, callers=2, p99_s=between)
    assert "B is not known to keep" in late.text
    assert late.within_budget is False
    assert course.check("5.b", "none", load=load, callers=2, p99_s=1e-6).passed
    assert "No config is known" in course.check("5.b", "A", load=load, callers=2, p99_s=1e-6).text
    assert "neither" in course.check("5.b", "Z", load=load, callers=2, p99_s=1.0).text


def test_a_load_test_of_more_than_90_s_is_beyond_the_budget() -> None:
    record = results.load_test()
    load = LoadTest(replace(record, duration_s=91 / (len(record.points) * len(record.runs))))
    result = course.check("5.b", "A", load=load, callers=2, p99_s=2 * p99_s(load, "B"))
    assert (result.correct, result.within_budget) == (True, False)
    assert "took 91 s of at most 90 s" in result.text
