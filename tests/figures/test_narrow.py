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
from workbench.figures.narrow import BETWEEN, fit_narrow
from workbench.figures.side_by_side import name_axes, place, plots_of_runs
from workbench.figures.template import set_title


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
