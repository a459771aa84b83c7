"""A figure in a narrow column: its axes stand below each other, and nothing gets lost."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import pytest

from tests.factories.comparisons import HOSTILE
from workbench.figures.chart import Axis, Chart, ChartRow, Value, one_value, run_look
from workbench.figures.chart_figure import chart_figure
from workbench.figures.lettering import text_width
from workbench.figures.narrow import BETWEEN, COLUMN, FLOW_ROOM, LEGEND_LINE, TITLE_LINE, fit_narrow
from workbench.figures.side_by_side import name_axes, place, plots_of_runs
from workbench.figures.template import set_title

LOOK = run_look(0)
VALUE = Value(2.0, "2 ms", LOOK)


def narrowed(figure: go.Figure) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the JSON of a figure, and that in a narrow column."""
    wide, narrow = (json.loads(figure.to_json()) for _ in range(2))
    fit_narrow(narrow)
    return wide, narrow


def domains(figure: dict[str, Any], count: int) -> list[list[float]]:
    layout = figure["layout"]
    return [layout[f"yaxis{at or ''}"]["domain"] for at in (0, *range(2, count + 1))]


@pytest.mark.parametrize("count", [2, 3])
def test_axes_side_by_side_stand_below_each_other(count: int) -> None:
    values = tuple((Value(2.0, "2 ms", run_look(0)),) for _ in range(count))
    axes = tuple(Axis(f"time {at} (ms)") for at in range(count))
    wide, narrow = narrowed(chart_figure(Chart(("t",), axes, (ChartRow("A", values),), columns=count)))
    layout, top = narrow["layout"], narrow["layout"]["margin"]["t"]
    assert layout["height"] - top == pytest.approx(count * (wide["layout"]["height"] - top))
    for (bottom, _), (_, below) in pairwise(domains(narrow, count)):
        assert (bottom - below) * (layout["height"] - top - BETWEEN) == pytest.approx(BETWEEN)
    assert min(bottom for bottom, _ in domains(narrow, count)) == pytest.approx(0, abs=1e-9)
    assert all(layout[name]["domain"] == [0, 1] for name in layout if name.startswith("xaxis"))
    assert narrow["data"] == wide["data"]


def test_the_name_of_a_plot_goes_with_it() -> None:
    figure, height = plots_of_runs(("A", "B"), 300)
    for at in range(2):
        figure.add_trace(go.Scatter(x=[1, 2], y=[1, 2]), **place(at, 2))
    name_axes(figure, 2, "bytes", "operations")
    _, narrow = narrowed(set_title(figure, ["title"], "", height))
    layout = narrow["layout"]
    heights = {mark["text"]: mark["y"] for mark in layout["annotations"]}
    for name, axis in (("<b>A</b>", "yaxis"), ("<b>B</b>", "yaxis2")):
        assert heights[name] == layout[axis]["domain"][1]
    assert layout["yaxis2"]["title"]["text"] == "operations"


def test_a_single_axis_keeps_its_height_and_its_texts_get_room() -> None:
    rows = (one_value("A", Value(2.0, "2.00 ms, enough", run_look(0))),)
    wide, narrow = narrowed(chart_figure(Chart(("t",), (Axis("time (ms)"),), rows)))
    assert narrow["layout"]["height"] == wide["layout"]["height"]
    assert narrow["layout"]["xaxis"]["range"][1] > wide["layout"]["xaxis"]["range"][1]


@pytest.mark.parametrize(("label", "end"), [("/encoder/layer.3/attention/MatMul", "MatMul"), ("A", "A")])
def test_long_labels_are_cut(label: str, end: str) -> None:
    value = Value(2.0, "2 ms", run_look(0))
    rows = (one_value(label, value), one_value(HOSTILE, value))
    _, narrow = narrowed(chart_figure(Chart(("t",), (Axis("time (ms)"),), rows)))
    first, hostile = narrow["layout"]["yaxis"]["ticktext"]
    assert first.endswith(end)
    assert len(first) < 20
    assert "<" not in hostile


def test_a_long_title_of_an_axis_is_broken_and_makes_the_figure_higher() -> None:
    figure = chart_figure(
        Chart(("t",), (Axis("time since the process was asked for (ms)"),), (one_value("A", VALUE),))
    )
    wide, narrow = narrowed(figure)
    assert narrow["layout"]["xaxis"]["title"]["text"] == "time since the process<br>was asked for (ms)"
    assert narrow["layout"]["height"] == wide["layout"]["height"] + TITLE_LINE


def test_each_name_in_the_legend_has_a_line() -> None:
    rows = tuple(one_value(label, Value(2.0, "2 ms", run_look(at, label))) for at, label in enumerate("ABC"))
    wide, narrow = narrowed(chart_figure(Chart(("t",), (Axis("time (ms)"),), rows)))
    assert narrow["layout"]["height"] == wide["layout"]["height"] + 2 * LEGEND_LINE


@pytest.mark.parametrize(
    ("label", "text", "drawn"),
    [
        ("A", "40", "40"),
        ("LayerNormalization", "0.604 ms (30.3 %)", "0.604 ms"),
        ("A", "2 ms, enough", "2 ms, enough"),
    ],
)
def test_the_text_behind_the_longest_bar_fits(label: str, text: str, drawn: str) -> None:
    rows = (one_value(label, Value(2.0, text, LOOK)),)
    _, narrow = narrowed(chart_figure(Chart(("t",), (Axis("time (ms)"),), rows)))
    (bar,), axis = narrow["data"], narrow["layout"]["xaxis"]
    assert bar["text"] == [drawn]
    (shown,) = narrow["layout"]["yaxis"]["ticktext"]
    room = (1 - 2.0 / axis["range"][1]) * (COLUMN - text_width(shown, 13))
    assert text_width(drawn, 12) <= room
    assert axis["range"][1] < 4 * 2.0, "some of the axis is for the bars"


def test_axes_below_each_other_have_room_for_titles_of_two_lines() -> None:
    axes = (Axis("time since the process was asked for (ms)"), Axis("resident memory of each stage (MiB)"))
    values = tuple((VALUE,) for _ in axes)
    _, narrow = narrowed(chart_figure(Chart(("t",), axes, (ChartRow("A", values),), columns=1)))
    layout, between = narrow["layout"], BETWEEN + TITLE_LINE
    (bottom, _), (_, below) = domains(narrow, 2)
    assert (bottom - below) * (layout["height"] - layout["margin"]["t"] - between) == pytest.approx(between)


def test_bars_without_a_value_have_a_range() -> None:
    _, narrow = narrowed(
        chart_figure(Chart(("t",), (Axis("time (ms)"),), (one_value("A", Value(None, "failed", LOOK)),)))
    )
    assert len(narrow["layout"]["xaxis"]["range"]) == 2


def test_the_reason_of_an_absent_value_is_cut_to_its_axis() -> None:
    value = Value(None, "no kernel of ConvInteger in this build, the node is '/conv/Conv_quant'", LOOK)
    _, narrow = narrowed(chart_figure(Chart(("t",), (Axis("time (ms)"),), (one_value("A", value),))))
    (reason,) = (mark["text"] for mark in narrow["layout"]["annotations"] if mark["xref"] == "x domain")
    assert reason.startswith("no kernel")
    assert text_width(reason, 12) <= COLUMN


def test_the_labels_of_a_flow_leave_room_for_the_other_side() -> None:
    labels = ["LayerNormalization", "Add", "SkipLayerNormalization"]
    figure = go.Figure(go.Sankey(node={"label": labels}, link={"source": [0], "target": [2], "value": [1]}))
    _, narrow = narrowed(figure)
    drawn = narrow["data"][0]["node"]["label"]
    assert drawn[1] == "Add"
    assert all(text_width(label, 13) <= FLOW_ROOM for label in drawn)
