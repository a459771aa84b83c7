"""One chart, two renderers: both show every row, value, interval and text, whatever the chart holds."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from tests.factories.comparisons import HOSTILE
from workbench.drawing.chart import Axis, Chart, ChartRow, ReferenceLine, Value, run_look, series_look
from workbench.drawing.chart_figure import PANEL, chart_figure
from workbench.drawing.chart_scene import WIDTH, chart_scene, ticks
from workbench.drawing.lettering import text_width
from workbench.drawing.shapes import Polyline, Rect, TextLine
from workbench.drawing.template import LETTER

A, B = run_look(0, "A"), run_look(1, "B")
PLAIN = series_look(0)


def bars(*values: Value, label: str = "row") -> ChartRow:
    return ChartRow(label, (values,))


def texts(chart: Chart) -> list[str]:
    return [shape.shown for shape in chart_scene(chart).shapes if isinstance(shape, TextLine)]


def test_bars_stand_beside_each_other_with_their_texts_and_a_legend() -> None:
    chart = Chart(
        ("title; rest",), (Axis("time (ms)"),), (bars(Value(2.0, "2 ms", A), Value(1.0, "1 ms", B)),)
    )
    figure = chart_figure(chart)
    assert [(trace.name, trace.x, trace.text) for trace in figure.data] == [
        ("A", (2.0,), ("2 ms",)),
        ("B", (1.0,), ("1 ms",)),
    ]
    assert figure.layout.barmode == "group"
    assert figure.layout.xaxis.title.text == "time (ms)"
    assert {"title", "rest", "time (ms)", "A", "B", "row", "2 ms", "1 ms"} <= set(texts(chart))
    first, second = [shape.width for shape in chart_scene(chart).shapes if isinstance(shape, Rect)][2:]
    assert first == pytest.approx(2 * second)


def test_an_absent_value_is_a_text_and_no_bar() -> None:
    chart = Chart(
        ("t",), (Axis("x"),), (bars(Value(1.0, "1", PLAIN)), bars(Value(None, "not measured", PLAIN)))
    )
    figure = chart_figure(chart)
    assert figure.data[0].x == (1.0, None)
    assert [note.text for note in figure.layout.annotations] == ["not measured"]
    assert "not measured" in texts(chart)
    assert sum(isinstance(shape, Rect) for shape in chart_scene(chart).shapes) == 1


def test_an_absent_bar_beside_others_has_its_reason_in_its_place() -> None:
    rows = bars(Value(1.0, "1", A), Value(None, "no counter", B)), bars(Value(2.0, "2", A))
    figure = chart_figure(Chart(("t",), (Axis("x"),), rows))
    assert [trace.name for trace in figure.data] == ["A", "B"], "B keeps its half of the row"
    (note,) = figure.layout.annotations
    assert (note.text, note.y) == ("no counter", (1 - figure.layout.bargap) / 4)


def test_ticks_have_no_exponent() -> None:
    chart = Chart(("t",), (Axis("rows"),), (bars(Value(2.0e6, "2 million", PLAIN)),))
    assert {"1,000,000", "2,000,000"} <= set(texts(chart))


def test_dots_have_intervals_and_an_axis_that_need_not_begin_at_zero() -> None:
    value = Value(97.0, "97 %", A, 96.0, 99.0)
    chart = Chart(("t",), (Axis("accuracy (%)", "dot"),), (bars(value), bars(Value(98.0, "98 %", B))))
    first, _ = chart_figure(chart).data
    assert (first.error_x.array, first.error_x.arrayminus) == ((2.0,), (1.0,))
    assert chart.span(0)[0] > 90
    assert any(isinstance(shape, Polyline) for shape in chart_scene(chart).shapes), "B is a diamond"


def test_stacks_add_up_and_show_their_total() -> None:
    row = ChartRow("A", ((Value(1.0, "x: 1", A), Value(None, "y", B), Value(2.0, "z: 2", B)),), ("3 ms",))
    chart = Chart(("t",), (Axis("ms", "stack"),), (row,))
    assert chart.span(0) == (0.0, 3.0)
    back = ChartRow("B", ((Value(2.0, "2", A), Value(-5.0, "-5", B)),))
    assert Chart(("t",), (Axis("ms", "stack"),), (back,)).span(0) == (-3.0, 2.0)
    assert chart_figure(chart).layout.barmode == "stack"
    assert "3 ms" in texts(chart)


def test_an_axis_below_another_has_its_own_scale_and_one_legend_serves_both() -> None:
    row = ChartRow("r", ((Value(1.0, "1", A),), (Value(1000.0, "1000", A),)))
    for columns in (1, 2):
        chart = Chart(("t",), (Axis("ms"), Axis("MiB")), (row,), columns=columns)
        figure = chart_figure(chart)
        assert [trace.showlegend for trace in figure.data] == [True, False]
        assert figure.layout.xaxis.range[1] < 10 < figure.layout.xaxis2.range[1]
        rects = [shape for shape in chart_scene(chart).shapes if isinstance(shape, Rect)]
        assert rects[0].width == pytest.approx(rects[1].width, rel=0.3)


@pytest.mark.parametrize(("text", "lines"), [("98 %", 1), ("98.06 % (96.04 to 99.05)", 2)])
def test_axes_stand_below_each_other_where_a_text_would_be_cut(text: str, lines: int) -> None:
    row = ChartRow("A static int8", ((Value(98.06, text, A),), (Value(35.0, "35.6 dB", A),)))
    axes = (Axis("accuracy (%)", "dot"), Axis("worst output (SQNR, dB)", "dot"))
    chart = Chart(("t",), axes, (row,), columns=2)
    assert {text, "35.6 dB"} <= set(texts(chart))
    names = {axis.title for axis in axes}
    shown = [shape for shape in chart_scene(chart).shapes if isinstance(shape, TextLine)]
    assert len({shape.y for shape in shown if shape.text in names}) == lines


def test_a_strangers_texts_stay_text() -> None:
    look = run_look(0, HOSTILE)
    axis = Axis(HOSTILE, lines=(ReferenceLine(1.0, HOSTILE),))
    row = bars(Value(1.0, HOSTILE, look, detail=HOSTILE), Value(None, HOSTILE, B), label=HOSTILE)
    chart = Chart((HOSTILE,), (axis,), (row, bars(Value(None, HOSTILE, look), label=HOSTILE)), HOSTILE)
    assert "<img" not in chart_figure(chart).to_json().replace("\\u003c", "<")
    root = ElementTree.fromstring(chart_scene(chart).to_svg())
    assert {element.tag.rpartition("}")[2] for element in root.iter()} <= {
        "svg",
        "title",
        "text",
        "rect",
        "path",
    }


NUMBERS = st.none() | st.floats(-1e12, 1e12)
VALUES = st.builds(Value, NUMBERS, st.text(), st.sampled_from([A, B, PLAIN]), NUMBERS, NUMBERS)


@settings(max_examples=amount(60))
@given(st.data(), st.sampled_from(["bar", "stack", "dot"]), st.integers(1, 3))
def test_any_chart_is_drawn_within_its_width(data: st.DataObject, kind: str, axes: int) -> None:
    row = st.builds(ChartRow, st.text(), st.tuples(*[st.lists(VALUES, max_size=3).map(tuple)] * axes))
    rows = data.draw(st.lists(row, max_size=4))
    chart = Chart(("title",), (Axis("x", kind),) * axes, tuple(rows), columns=2)  # type: ignore[arg-type]
    json.loads(chart_figure(chart).to_json())
    for shape in chart_scene(chart).shapes:
        if isinstance(shape, Rect):
            assert -1 <= shape.x <= shape.x + shape.width <= WIDTH + 1


@pytest.mark.parametrize("kind", ["bar", "stack", "dot"])
@pytest.mark.parametrize("least", [5e-324, 1e-322, 1e-308])
def test_numbers_too_small_to_divide_are_drawn(kind: str, least: float) -> None:
    chart = Chart(("title",), (Axis("x", kind),), (bars(Value(least, "tiny", PLAIN)),))  # type: ignore[arg-type]
    assert json.loads(chart_figure(chart).to_json())["data"][0]["x"] == [least]
    assert {"x", "row", "0"} <= set(texts(chart))


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e9))
def test_ticks_are_few_and_inside(least: float, width: float) -> None:
    numbers = ticks(least, least + width)
    assert len(numbers) <= 7
    assert all(least - 1e-6 * width <= number <= least + width * (1 + 1e-6) for number in numbers)


def test_the_text_behind_the_longest_bar_has_room_beside_long_labels() -> None:
    text = "0.604 ms (30.3 %)"
    rows = tuple(bars(Value(0.6, text, PLAIN), label=label) for label in ("LayerNormalization", "Add"))
    figure = chart_figure(Chart(("t",), (Axis("own time a run (ms)"),), rows))
    end = figure.layout.xaxis.range[1]
    assert (1 - 0.6 / end) * (PANEL - text_width("LayerNormalization", LETTER)) >= text_width(text, LETTER)


def test_a_single_row_above_a_legend_has_room_for_the_title_of_its_axis() -> None:
    heights = {
        name: chart_figure(
            Chart(("t",), (Axis("SQNR (dB)", "dot"),), (bars(Value(92.0, "92 dB", look)),))
        ).layout.height
        for name, look in (("with", B), ("without", PLAIN))
    }
    assert heights["with"] > heights["without"]
