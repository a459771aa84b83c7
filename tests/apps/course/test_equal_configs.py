"""A config against itself: single processes beside pairs of processes."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tests.factories import comparisons
from workbench.apps.course.equal_configs import MOST_NAIVE, EqualConfigs, equal_configs, naive_ratios
from workbench.features.compare.result import Comparison


def compared(low: float | None, high: float | None) -> Comparison:
    runs = comparisons.drawn_run("A", 0.002), comparisons.drawn_run("B", 0.002)
    record = comparisons.comparison(*runs, kind="tie")
    verdict = replace(record.verdict, ratio=1.0, low=low, high=high)
    return Comparison(replace(record, verdicts=(verdict,)))


def test_a_single_ratio_takes_processes_of_two_rounds() -> None:
    first = comparisons.run("A", [[[0.002]], [[0.003]], [[0.004]]])
    second = comparisons.run("B", [[[9.0]], [[0.001]], [[0.002]]])
    assert naive_ratios(comparisons.comparison(first, second)) == pytest.approx([2.0, 1.5])


def test_the_sentence_counts_what_was_measured() -> None:
    equal = equal_configs(compared(0.99, 1.01), compared(1.01, 1.02), compared(None, None))
    assert len(equal.naive) == 12
    assert f"{equal.notable} of 12 ratios differ by more than 2 %" in str(equal)
    assert "1 of 2 intervals contain 1" in str(equal)
    assert len(equal.to_frame()) == 15


def test_a_difference_is_the_same_from_both_sides() -> None:
    assert [EqualConfigs(naive, ()).largest_difference for naive in ((0.5, 1.25), (2.0, 0.8))] == [1, 1]
    assert "at most by 100.0 %" in str(EqualConfigs((0.5,), ()))
    assert EqualConfigs((0.98, 0.9805), ()).notable == 1
    assert EqualConfigs((0.0,), ()).largest_difference == math.inf


def test_no_interval_and_no_round_are_said() -> None:
    assert "No comparison had enough pairs" in str(equal_configs(compared(None, None)))
    assert equal_configs().largest_difference is None


def test_the_picture_has_a_row_for_each_ratio() -> None:
    equal = equal_configs(*[compared(0.99, 1.01)] * 6)
    chart = equal.chart()
    assert len(chart.rows) == MOST_NAIVE + 6
    assert chart.rows[-1].values[0][0].interval == (0.99, 1.01)
    data, _ = equal._repr_mimebundle_()
    assert {"image/png", "text/plain"} <= set(data)
    assert equal.figure() is not None
