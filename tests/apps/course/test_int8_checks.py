"""The exercises on int8: right and wrong answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.apps.course.asked import asked
from tests.factories import comparisons, results
from workbench.apps import course
from workbench.core.config import Config, StaticInt8
from workbench.features.accuracy.record import AccuracyRecord, Paired, Score
from workbench.features.accuracy.result import AccuracyTable
from workbench.features.accuracy.sensitivity_record import LayerSensitivity
from workbench.features.accuracy.sensitivity_result import Sensitivity
from workbench.features.compare.result import Comparison

STATIC = Config(precision=StaticInt8())
LIMITS = {"speedup": 1.5, "lost": 0.02}


def compared(low: float) -> Comparison:
    runs = comparisons.drawn_run("A", 0.002), replace(comparisons.drawn_run("B", 0.001), config=STATIC)
    record = comparisons.comparison(*runs)
    verdict = replace(record.verdict, ratio=low + 0.1, low=low, high=low + 0.2)
    return asked(replace(record, verdicts=(verdict,)), 40)


def accuracy(low: float, high: float = 0.0) -> AccuracyTable:
    record: AccuracyRecord = results.accuracy()
    first, second = record.scores
    gap = Paired((low + high) / 2, low, high, 0, 3, 0.5, "Tango")
    return AccuracyTable(replace(record, scores=(first, replace(second, against=gap))))


def test_a_config_that_keeps_both_limits_is_accepted() -> None:
    given = {"comparison": compared(1.6), "accuracy": accuracy(-0.01), **LIMITS}
    assert course.check("7.a", STATIC, **given).passed
    text = course.check("7.a", "none", **given).text
    assert "One of the configs keeps both limits" in text
    assert "B" not in text, "which one is the answer"
    assert "the baseline itself" in course.check("7.a", Config(), **given).text
    assert "did not measure" in course.check("7.a", Config(level="basic"), **given).text
    assert "neither a wb.Config" in course.check("7.a", "B", **given).text


@pytest.mark.parametrize(
    ("low", "lost", "words"),
    [
        (1.4, -0.01, "1.5 times was asked for"),
        (1.6, -0.03, "0 items do not settle it"),
        (1.6, None, "labels"),
    ],
)
def test_a_limit_that_is_not_kept_for_certain_is_not_kept(low: float, lost: float | None, words: str) -> None:
    table = accuracy(lost or 0.0)
    if lost is None:
        record = table.record
        table = AccuracyTable(replace(record, scores=(record.scores[0], Score("B", None, None, None))))
    given = {"comparison": compared(low), "accuracy": table, **LIMITS}
    result = course.check("7.a", STATIC, **given)
    assert words in result.text
    assert (result.correct, result.within_budget) == ((True, False) if low < 1.5 else (False, None))
    assert course.check("7.a", "none", **given).passed


def layer(name: str, error: float | None, gain_s: float | None) -> LayerSensitivity:
    return LayerSensitivity(name, (name,), ("Conv",), error, gain_s, None, None, None)


def left_out(*rows: LayerSensitivity, mode: str = "left out") -> Sensitivity:
    record = replace(results.sensitivity(), mode=mode, whole_error=0.02, rows=rows)
    return Sensitivity(record)


def test_the_layer_with_much_error_and_little_time_is_the_answer() -> None:
    rows = (
        layer("first", 0.008, 1e-6),
        layer("large", 0.008, 9e-5),
        layer("small", 0.019, 1e-6),
        layer("unknown", None, 1e-6),
        layer("untimed", 0.008, None),
    )
    study = left_out(*rows)
    assert course.check("7.b", "first", sensitivity=study).passed
    for answer, words in (
        ("large", "gives up 97% of the gain"),
        ("small", "wins 0.4 dB"),
        ("unknown", "error without this layer is not known"),
        ("untimed", "time that this layer saves is not known"),
        ("none", "1 of 5 keep both limits"),
        ("other", "has no layer 'other'"),
        (["first"], "has no layer"),
    ):
        assert words in course.check("7.b", answer, sensitivity=study).text
    over = course.check("7.b", "large", sensitivity=study)
    assert (over.correct, over.within_budget) == (True, False)


def test_without_such_a_layer_none_is_the_answer() -> None:
    study = left_out(layer("large", 0.008, 9e-5), layer("small", 0.019, 1e-6))
    assert course.check("7.b", "none", sensitivity=study).passed
    alone = left_out(layer("large", 0.008, 9e-5), mode="alone")
    assert "mode='left out'" in course.check("7.b", "none", sensitivity=alone).text


def test_an_exact_rest_and_a_layer_that_costs_time_are_fine() -> None:
    study = left_out(layer("first", 0.0, -1e-6), layer("large", 0.02, 9e-5))
    assert course.check("7.b", "first", sensitivity=study).passed


@pytest.mark.parametrize(
    ("kind", "right"),
    [("faster", "int8"), ("slower", "uint8"), ("tie", "either"), ("unknown", "either")],
)
def test_the_activations_follow_the_verdict(kind: str, right: str) -> None:
    runs = comparisons.drawn_run("A", 0.002), comparisons.drawn_run("B", 0.001)
    comparison = asked(comparisons.comparison(*runs, kind=kind), 30)
    assert course.check("7.c", right, comparison=comparison).passed
    for wrong in {"int8", "uint8", "either", "both"} - {right}:
        assert not course.check("7.c", wrong, comparison=comparison).correct
