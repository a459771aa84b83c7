"""The run row: two buttons and a menu with every further result, each in the group of its tab."""

from __future__ import annotations

from typing import Any

import pytest

import workbench as wb
from workbench.apps.panels.jobs import JobView
from workbench.apps.panels.run_row import Menu, RunRow
from workbench.features.base.registry import KINDS


@pytest.fixture
def row() -> RunRow:
    return wb.Workbench().panels.run_row


def choose(menu: Menu, key: str) -> None:
    """Send what the page sends when an item is chosen."""
    menu._handle_custom_msg({"act": key}, [])


def test_every_kind_that_can_be_made_has_a_button_or_an_item(row: RunRow) -> None:
    items = [item["key"] for group in row.menu.groups for item in group["items"]]
    assert len(items) == len(set(items))
    assert {*items, "findings"} == {kind.name for kind in KINDS if kind.button}


def test_groups_are_the_tabs_in_their_order(row: RunRow) -> None:
    names = [group["name"] for group in row.menu.groups]
    titles = wb.Workbench().panels.results.titles
    assert names == [title for title in titles if title in names]
    graph = next(group for group in row.menu.groups if group["name"] == "graph")
    assert [item["label"] for item in graph["items"]] == ["Explain A and B"]


def test_an_item_makes_its_result(row: RunRow, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(row.bench, "run", made.append)
    choose(row.menu, "explanation")
    assert made == ["explanation"]


def test_an_item_with_fields_turns_to_them(row: RunRow) -> None:
    choose(row.menu, "load test")
    results: Any = row.results
    page = results.pages[results.tabs.selected_index]
    assert page.tab.title == "scenarios"
    assert page.tools.menu.value == "load test"
    assert page.tools.place.children == (page.tools.lines["load test"].widget,)
    page.tools.menu.value = "matrix"
    assert row.state.scenario == "matrix"


def test_the_error_of_an_item_stands_in_the_row(row: RunRow) -> None:
    choose(row.menu, "profile")
    assert "No model is open" in row.status.value


def test_nothing_can_be_chosen_while_something_runs(row: RunRow) -> None:
    row.state.job = JobView("Compare", "round 1", 1.0)
    assert row.menu.locked
    assert row.improve.disabled
    assert not row.tune.disabled, "the tab tune can be read meanwhile"
    row.state.job = None
    assert not row.menu.locked
