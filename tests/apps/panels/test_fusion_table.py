"""The table of fusions in the panels: the chosen row, its reasons, its button and its drawing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.apps.widgets import buttons, htmls, single
from tests.factories.graphs import HOSTILE, fused
from tests.features.explain.test_fusion_table import plain
from workbench.apps.panels.state import BenchState
from workbench.apps.panels.table import PickedTable
from workbench.core.config import Config
from workbench.features.explain.fusions import Fusions
from workbench.features.explain.graph_view import GraphView
from workbench.features.explain.passes.fusion_picks import fusion_picks, group_html, remedies_text
from workbench.features.explain.passes.fusion_table import remedy


def both() -> Fusions:
    disabled = replace(plain(), config=Config(disabled_passes=("BiasReluFusion",), allow_unknown=True))
    return Fusions({"A": disabled, "B": fused()})


def shown_of(fusions: Fusions) -> PickedTable:
    return PickedTable(fusion_picks(fusions, {}), BenchState())


def table() -> PickedTable:
    return shown_of(both())


def test_the_first_row_is_chosen_and_drawn_before_and_after() -> None:
    shown = table()
    assert shown.table.rows == [
        ["Add + MatMul → Gemm", 1, 0, 1, "A 1× BiasReluFusion is among disabled_passes",
         "A: enable BiasReluFusion"],
    ]  # fmt: skip
    view = single(shown.drawer, GraphView)
    assert [row.node for row in view.panes[1].rows] == ["/a/Gemm"]


def test_without_any_remedy_there_is_no_column_of_them() -> None:
    shown = shown_of(Fusions({"B": fused()}))
    assert [column["name"] for column in shown.table.columns] == ["fusion", "could", "B", "why not"]
    assert [column["number"] for column in shown.table.columns] == [False, True, True, False]
    assert {len(row) for row in shown.table.rows} == {4}


def test_choosing_a_row_selects_its_nodes_and_the_first_row_selects_nothing() -> None:
    shown = table()
    assert shown.state.selected == ()
    shown.table.picked = []
    assert shown.children == (shown.table,), "the drawer is closed"
    shown.table.picked = ["Add + MatMul → Gemm"]
    assert shown.state.selected == ("/a/MatMul", "/a/Add")


def test_a_button_sets_the_config_that_would_fuse_it() -> None:
    shown = table()
    buttons(shown.drawer)["A: enable BiasReluFusion"].click()
    assert shown.state.configs["A"] == Config(allow_unknown=True)
    assert "Press Compare" in shown.status.value


def test_where_nothing_can_be_fused_a_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Fusions, "rows", lambda _: ())
    (note,) = htmls(shown_of(Fusions({"A": plain()})))
    assert "fused nothing" in note


def test_reasons_of_strangers_are_text() -> None:
    group = both().rows()[0].not_fused[0]
    html = group_html(replace(group, reason=HOSTILE, places=((HOSTILE,),)))
    assert "<img" not in html
    assert "<script" not in html


def test_a_remedy_that_both_runs_need_stands_once() -> None:
    (row,), config = both().rows(), both().explained["A"].config
    (group,) = row.not_fused
    of_both = replace(row, not_fused=(group, replace(group, label="B")))
    text = remedies_text(of_both, lambda row, group: remedy(row.pattern, group, config, {}))
    assert text == "A, B: enable BiasReluFusion"
