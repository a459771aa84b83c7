"""Figures of layers draw, bounded and escaped, whatever the layers are called."""

from workbench.drawing.chart_figure import chart_figure
from workbench.features.accuracy.layers_record import LayerError, LayerErrorsRecord
from workbench.features.accuracy.layers_result import (
    MOST_ROWS,
    layer_errors_chart,
    sensitivity_chart,
)
from workbench.features.accuracy.sensitivity_record import LayerSensitivity, SensitivityRecord

NASTY = "<b onmouseover=alert(1)>$x$ %{y}"


def errors(count=3, name=NASTY):
    layers = tuple(LayerError(f"{name}{at}", "Conv", 20.0 + at, None, 10.0, 3.0) for at in range(count))
    return LayerErrorsRecord("net", "static int8", "by name", 8, "data", True, layers, (), (), ())


def sensitivity(count=3, name=NASTY, gain_s=1e-5):
    rows = tuple(
        LayerSensitivity(f"{name}{at}", (f"n{at}",), ("Conv",), 0.01 * at, gain_s, None, None, None)
        for at in range(count)
    )
    return SensitivityRecord("net", "static int8", "alone", 0.1, rows, "estimated", 16, "data", True, ())


def test_very_many_layers_are_bounded_and_said():
    figure = chart_figure(layer_errors_chart(errors(200)))
    assert max(max(trace.y) for trace in figure.data) == MOST_ROWS - 1
    assert "160" in figure.layout.meta["title"][-1]
    assert len(chart_figure(sensitivity_chart(sensitivity(200))).data[0].y) == MOST_ROWS


def test_the_worst_is_on_top_and_times_are_left_out_where_unknown():
    assert errors().worst[0].weakest_db == 20
    assert sensitivity().worst[0].error == 0.02
    assert len(chart_figure(sensitivity_chart(sensitivity(gain_s=None))).data) == 1
