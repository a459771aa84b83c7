"""Charts draw no ratio that a verdict refuses: of outputs that differ, or of rounds without an interval."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.factories import results as examples
from workbench.core.bundle.estimate import Estimate
from workbench.core.text import factor_ends
from workbench.drawing.chart import Chart
from workbench.features.improve.html import steps_html
from workbench.features.improve.result import improvement_chart
from workbench.features.variants.levels import levels_chart
from workbench.features.variants.versions.record import versions_chart
from workbench.features.variants.worth import worth_chart


def drawn(chart: Chart, row: int, axis: int) -> tuple[float | None, str, str]:
    value = chart.rows[row].values[axis][0]
    return value.value, value.text, value.detail


@pytest.mark.parametrize(
    ("record", "chart_of"), [(examples.levels(), levels_chart), (examples.versions(), versions_chart)]
)
def test_a_variant_whose_outputs_differ_has_no_speed_up(record: Any, chart_of: Any) -> None:
    row = record.rows[1]
    value, text, _ = drawn(chart_of(record), 1, 3)
    assert (value, text) == (row.ratio.value, row.ratio.factor + factor_ends(row.ratio.low, row.ratio.high))
    wrong = replace(row, verdict="outputs differ", reason="y differs")
    chart = chart_of(replace(record, rows=(record.rows[0], wrong)))
    assert drawn(chart, 1, 3) == (None, "outputs differ", "y differs")


def test_a_pass_without_an_interval_has_no_worth() -> None:
    record = examples.ablation()
    absurd = replace(record.rows[0], effect="unknown", ratio=Estimate(0.1), reason="rounds differ")
    chart = worth_chart(replace(record, rows=(absurd,)))
    assert drawn(chart, 0, 0) == (None, "not settled", "rounds differ")
    assert drawn(chart, 1, 0)[0] == pytest.approx(30.0)


def test_a_fix_without_an_interval_has_no_speed_up() -> None:
    record = examples.improvement()
    absurd = replace(record.steps[1], ratio=9.0, low=None, high=None, reason="rounds differ")
    chart = improvement_chart(replace(record, steps=(record.steps[0], absurd)))
    assert drawn(chart, 0, 0)[0] == 1.2
    assert drawn(chart, 1, 0) == (None, "not settled", "rounds differ")


@pytest.mark.parametrize(
    ("low", "high", "words"), [(2.7, None, "at least 2.7×"), (None, 1 / 2.7, "at most 0.37×")]
)
def test_a_large_effect_whose_size_is_open_is_told_by_its_end(
    low: float | None, high: float | None, words: str
) -> None:
    improved, levels = examples.improvement(), examples.levels()
    step = replace(improved.steps[1], ratio=None, low=low, high=high, reason="far apart")
    improved = replace(improved, steps=(step,))
    assert drawn(improvement_chart(improved), 0, 0) == (None, words, "far apart")
    assert words in steps_html("B", improved)
    row = replace(levels.rows[1], verdict="faster", ratio=Estimate(None, low, high), reason="far apart")
    assert drawn(levels_chart(replace(levels, rows=(levels.rows[0], row))), 1, 3)[:2] == (None, words)
