"""The lesson on memory and cold start: its checkers against right and wrong answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import workbench as wb
from tests.factories import comparisons, results
from workbench.apps import course
from workbench.apps.course.exercise import OverBudget
from workbench.apps.course.memory_lesson import loads_faster
from workbench.features.compare.result import Comparison


def settings(*rows: tuple[str, int | None, float | None]) -> wb.MemorySettings:
    record = results.settings()
    made = tuple(
        replace(record.rows[0], name=name, peak_bytes=peak, latency_s=latency_s)
        for name, peak, latency_s in rows
    )
    return wb.MemorySettings(replace(record, rows=made), results.about())


MEASURED = (
    ("as asked", 100 << 20, 0.010),
    ("arena off", 120 << 20, 0.011),
    ("memory pattern off", 101 << 20, 0.010),
    ("prepacking off", 80 << 20, 0.016),
)


@pytest.mark.parametrize("answer", ["as asked", "memory pattern off"])
def test_a_peak_near_the_lowest_is_enough(answer: str) -> None:
    assert course.check("9.a", answer, settings=settings(*MEASURED)).passed


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("arena off", "lower peak"),
        ("prepacking off", "more than 1.5 times as long"),
        ("level none", "none of: as asked"),
        (["as asked"], "none of: as asked"),
    ],
)
def test_other_settings_are_refused(answer: object, words: str) -> None:
    result = course.check("9.a", answer, settings=settings(*MEASURED))
    assert words in result.text
    assert (result.within_budget is False) is ("times as long" in words)


def test_a_peak_that_was_not_measured_is_named() -> None:
    unmeasured = settings(("as asked", None, 0.01))
    assert "No peak was measured" in course.check("9.a", "as asked", settings=unmeasured).text
    partly = settings(*MEASURED, ("memory pattern and arena off", None, 0.01))
    text = course.check("9.a", "memory pattern and arena off", settings=partly).text
    assert text == "With memory pattern and arena off nothing was measured."


def loading(before_s: float | None, after_s: float | None, kind: str = "tie") -> Comparison:
    record = comparisons.comparison(
        comparisons.drawn_run("A", 0.002), comparisons.drawn_run("B", 0.002), kind=kind
    )
    runs = tuple(
        replace(
            run,
            processes=tuple(replace(process, load_s=load_s) for process in run.processes if load_s),
        )
        for run, load_s in zip(record.runs, (before_s, after_s), strict=True)
    )
    return Comparison(replace(record, runs=runs))


def test_a_load_1_3_times_as_fast_is_accepted() -> None:
    assert loads_faster(loading(0.2, 0.15)) is None
    problem = loads_faster(loading(0.2, 0.16))
    assert isinstance(problem, OverBudget)
    assert "1.25 times as fast" in problem


def test_slower_runs_and_other_outputs_are_refused() -> None:
    slower = loads_faster(loading(0.2, 0.02, "slower"))
    assert isinstance(slower, OverBudget)
    assert "its runs are slower" in slower
    record = loading(0.2, 0.02, "unknown").record
    unsettled = replace(record, verdicts=(replace(record.verdict, ratio=0.5, low=None, high=None),))
    assert "its runs are slower" in str(loads_faster(Comparison(unsettled)))
    other = replace(record, agreement=tuple(replace(row, sqnr_db=20.0) for row in record.agreement))
    assert "outputs differ" in str(loads_faster(Comparison(other)))


def test_a_load_time_that_was_not_measured_is_named() -> None:
    assert "No load time" in str(loads_faster(loading(None, 0.1)))
    assert "no wb.Config" in course.check("9.b", "saved", model=None).text


SIZES = {"batch": 1, "sequence": 32}


@pytest.mark.real
def test_warm_up_inputs_are_tried_in_a_run() -> None:
    def text(**inputs: object) -> str:
        return course.check("9.c", inputs, model="char-gpt", sizes=SIZES).text

    name = next(iter(dict(wb.load("char-gpt").inputs().shapes)))
    assert text(**{name: np.ones((1, 32), np.int64)}) == "The answer is right."
    assert "Refused" in text(**{name: np.full((1, 32), 1000)})
    assert "Refused" in text(**{name: np.random.default_rng(0).standard_normal((1, 32))})
    assert "shall be" in text(**{name: np.ones((1, 1), np.int64)})
    assert "Refused" in text()
    assert "no dict" in course.check("9.c", 3, model="char-gpt", sizes=SIZES).text
