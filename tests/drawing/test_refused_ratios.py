"""Charts draw no ratio that a verdict refuses: of outputs that differ, or of rounds without an interval."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.factories import results as examples
from workbench.apps.panels.tabs.finding_texts import steps_html
from workbench.drawing.chart import Chart
from workbench.features.findings.chart import improvement_chart
from workbench.features.variants.chart import ablation_chart, levels_chart, versions_chart


def drawn(chart: Chart, row: int, axis: int) -> tuple[float | None, str, str]:
    value = chart.rows[row].values[axis][0]
    return value.value, value.text, value.detail


def test_a_level_whose_outputs_differ_has_no_speed_up() -> None:
    record = examples.levels()
    wrong = replace(record.rows[1], verdict="outputs differ", reason="y differs")
    chart = levels_chart(replace(record, rows=(record.rows[0], wrong)))
    assert drawn(chart, 1, 3) == (None, "outputs differ", "y differs")


def test_a_version_whose_outputs_differ_has_no_speed_up() -> None:
    record = examples.versions()
    assert drawn(versions_chart(record), 1, 3) == (1.83, "1.83×, faster", "")
    wrong = replace(record.comparison.verdict, kind="outputs differ")
    chart = versions_chart(replace(record, comparison=replace(record.comparison, verdicts=(wrong,))))
    assert drawn(chart, 1, 3) == (None, "outputs differ", "")


def test_a_pass_without_an_interval_has_no_worth() -> None:
    record = examples.ablation()
    absurd = replace(record.rows[0], effect="unknown", worth=9.0, low=None, high=None, reason="rounds differ")
    chart = ablation_chart(replace(record, rows=(absurd,)))
    assert drawn(chart, 0, 0) == (None, "not settled", "rounds differ")
    assert drawn(chart, 1, 0)[0] == 100 * 0.3


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
    assert f"measured {words}" in steps_html("B", improved)
    row = replace(levels.rows[1], verdict="faster", speedup=None, low=low, high=high, reason="far apart")
    assert drawn(levels_chart(replace(levels, rows=(levels.rows[0], row))), 1, 3)[:2] == (None, words)
