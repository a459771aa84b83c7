"""Lines of a sweep: the data, and that both renderers draw them."""

from __future__ import annotations

from tests.factories import results as examples
from workbench.drawing.shapes import Polyline, TextLine
from workbench.features.grid.chart import sweep_chart, sweep_figure, sweep_scene


def test_a_curve_a_config_and_a_gap_where_nothing_was_measured() -> None:
    chart = sweep_chart(examples.sweep())
    assert chart.position_title == "batch"
    assert chart.positions == ((0.0, "1"), (3.0, "8"), (5.0, "32"))
    latency, rate = chart.panels
    assert latency.title == "median latency of one run (ms)"
    assert rate.title == "throughput (items/s)"
    assert [curve[0].look.name for curve in latency.curves] == ["ORT defaults", "intra-op threads 1"]
    first, second, missing = latency.curves[0]
    assert first.value is not None
    assert first.low is not None
    assert first.low < first.value
    assert second.value is not None
    assert missing.value is None


def test_plotly_draws_each_curve_in_both_panels() -> None:
    figure = sweep_figure(examples.sweep())
    assert len(figure.data) == 4
    assert [trace.showlegend for trace in figure.data] == [True, True, False, False]
    assert figure.data[0].y[2] is None


def test_the_still_picture_has_lines_ticks_and_names() -> None:
    shapes = sweep_scene(examples.sweep()).shapes
    assert sum(isinstance(shape, Polyline) and len(shape.points) == 2 for shape in shapes) >= 4
    texts = [shape.text for shape in shapes if isinstance(shape, TextLine)]
    assert {"1", "8", "32", "batch", "ORT defaults"} <= set(texts)
