"""Paired bars of memory and start, and marks of how near the outputs are."""

from __future__ import annotations

from dataclasses import replace

from tests.factories.comparisons import comparison, drawn_run, failed, ordinary
from workbench.core.bundle.comparison import ComparisonRecord, OutputAgreement
from workbench.drawing.agreement import agreement_chart
from workbench.drawing.chart import Value, run_look
from workbench.drawing.chart_figure import chart_figure
from workbench.drawing.chart_scene import chart_scene
from workbench.drawing.palette import LOSS
from workbench.drawing.resources import resources_chart
from workbench.drawing.strips import config_text


def test_each_config_has_a_bar_on_each_axis_in_its_colour() -> None:
    chart = resources_chart(ordinary())
    assert [axis.title for axis in chart.axes] == ["peak memory (MiB)", "load (ms)", "first run (ms)"]
    assert [row.label for row in chart.rows] == ["A", "B"]
    config = config_text(ordinary(), ordinary().runs[1])
    assert chart.rows[1].values == tuple(
        (Value(number, text, run_look(1), detail=config),)
        for number, text in ((61.0, "61.0 MiB"), (250.0, "250 ms"), (4.0, "4 ms"))
    )
    assert len(chart_figure(resources_chart(ordinary())).data) == 6 / 2
    assert chart_scene(chart).shapes


def test_a_failed_config_has_no_bars() -> None:
    chart = resources_chart(comparison(drawn_run("A", 0.002), failed("B")))
    assert [value.text for values in chart.rows[1].values for value in values] == ["failed"] * 3


def with_outputs(*outputs: OutputAgreement) -> ComparisonRecord:
    return replace(ordinary(), agreement=outputs)


def test_an_output_is_a_mark_and_one_that_differs_has_the_colour_of_a_loss() -> None:
    near = OutputAgreement("B", "y", True, "", 0.0, 0.0, 31.0, 0, 0, 20.0)
    far = OutputAgreement("B", "z", False, "SQNR 3 dB", 1.0, 1.0, 3.0, 0, 0, 20.0)
    unknown = OutputAgreement("B", "w", None, "not numbers", None, None, None, None, None)
    equal = OutputAgreement("B", "e", True, "", 0.0, 0.0, None, 0, 0)
    record = with_outputs(near, far, unknown, equal)
    chart = agreement_chart(record)
    marks = [row.values[0][0] for row in chart.rows]
    assert [mark.value for mark in marks] == [31.0, 3.0, None, 160.0]
    assert marks[1].look.color == LOSS
    assert marks[2].text == "not numbers"
    assert chart.axes[0].lines[0].value == 20.0
    assert chart.sentences == ("2 of 3 outputs agree with the baseline's; 1 not judged",)
    assert agreement_chart(with_outputs(unknown)).sentences == ("1 output not judged",)
    assert chart_figure(agreement_chart(record)).data
    assert chart_scene(chart).shapes
