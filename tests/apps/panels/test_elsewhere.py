"""Where the nodes would run on other providers: a table of predictions, and the graph of the picked one."""

from __future__ import annotations

import pytest

import workbench as wb
from benchmarks.graphs import explained
from tests.apps.widgets import single
from tests.factories.graphs import fused
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import PickedTable
from workbench.features.explain.graph_view import GraphView
from workbench.features.explain.placement.elsewhere import elsewhere, islands_html, strip_html
from workbench.features.explain.placement.prediction import PlacementPrediction, PredictedNode


def test_each_provider_is_a_row_and_the_first_one_is_drawn() -> None:
    shown = PickedTable(elsewhere(wb.Explanation(explained(60))), BenchState())
    names = [row[0] for row in shown.table.rows]
    assert {"CUDA", "OpenVINO", "QNN"} <= set(names)
    assert "PREDICTION" in single(shown.drawer, GraphView).panes[0].note
    shown.table.picked = ["QNN"]
    assert "QNN" in single(shown.drawer, GraphView).panes[0].title
    shown.table.picked = []
    assert shown.children == (shown.table,)


def test_a_node_of_the_prediction_is_selected_everywhere() -> None:
    shown = PickedTable(elsewhere(wb.Explanation(fused())), BenchState())
    single(shown.drawer, GraphView).selected = ("/a/Gemm",)
    assert shown.state.selected == ("/a/Gemm",)
    shown.state.selected = ("/b/Gemm",)
    assert [*single(shown.drawer, GraphView).selected] == ["/b/Gemm"]


def test_bytes_that_cross_are_numbers_which_sort() -> None:
    shown = PickedTable(elsewhere(wb.Explanation(explained(600))), BenchState())
    sizes = [row[[column["name"] for column in shown.table.columns].index("MB")] for row in shown.table.rows]
    assert max(sizes) == pytest.approx(170, abs=1)


def test_parts_of_a_single_node_are_counted_by_operator() -> None:
    nodes = tuple(
        PredictedNode(str(at), kind, True, "", part)
        for at, (kind, part) in enumerate(
            [("Gather", 0), ("Conv", 1), ("Conv", 1), ("<b>", 2), ("Gather", 3)]
        )
    )
    html = islands_html(PlacementPrediction("X", "X", "", "", nodes, ()))
    assert "3 parts are a single node: 2 Gather, 1 &lt;b&gt;" in html
    assert islands_html(PlacementPrediction("X", "X", "", "", nodes[1:3], ())) == ""


def test_single_nodes_that_the_cpu_keeps_are_no_parts_of_the_provider() -> None:
    takes = (("Conv", True), ("Softmax", False), ("Conv", True))
    nodes = tuple(PredictedNode(str(at), kind, take, "", at) for at, (kind, take) in enumerate(takes))
    html = islands_html(PlacementPrediction("X", "X", "", "", nodes, ()))
    assert "2 parts are a single node: 2 Conv<" in html
    assert "1 part of the CPU is a single node: 1 Softmax<" in html


def test_a_strip_has_the_nodes_of_each_provider_and_the_parts() -> None:
    takes = [True, True, None, False, True]
    nodes = tuple(PredictedNode(str(at), "Conv", take, "", at) for at, take in enumerate(takes))
    html = strip_html(PlacementPrediction("X", "X", "", "", nodes, ()))
    assert "X 3 · unknown 1 · CPU 1" in html
    assert "flex-grow:3" in html
    assert html.endswith("3 parts</div>")
