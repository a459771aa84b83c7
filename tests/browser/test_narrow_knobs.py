"""The knob table in little room: the value in effect is readable, an open list has all of it."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# The knob table in a place of this width. Returned: the heads, and what the cells show without the focus; the
# options of a cell that has it.
KNOBS = """([width, state]) => {
  const place = document.querySelector('.wbp');
  place.style.width = `${width}px`;
  const root = document.createElement('div');
  place.replaceChildren(root);
  const model = {get: (name) => state[name], on() {}, off() {}, send() {}, set() {}, save_changes() {}};
  const stop = renderKnobs({model, el: root});
  root.querySelectorAll('.wbk-link').forEach((link) => link.click());
  const selects = [...root.querySelectorAll('.wbk-drawer select')];
  const shown = () => selects.map((select) => select.selectedOptions[0].textContent);
  const heads = [...root.querySelectorAll('.wbk-drawer .wbk-name')].map((head) => head.textContent);
  const before = shown(), values = selects.map((select) => select.value);
  selects[0].focus();
  const listed = [...selects[0].options].map((option) => option.textContent);
  selects[0].blur();
  const after = shown();
  stop();
  return {heads, before, values, listed, after};
}"""
WIDGET = "knobs"
VALUES = ["default: 2", "1", "2"]


def knobs_of(labels: str) -> dict[str, Any]:
    """Return what the table shows of a row of each config."""
    columns = [
        {"label": label, "name": f"{label} config", "shown": False, "best": False, "drops": False}
        for label in labels
    ]
    cell = {"value": "default: 2", "default": True, "differs": False, "error": ""}
    row = {"label": "intra-op threads", "help": "", "options": VALUES, "typed": "", "group": ""}
    chief = ("intra_op_threads", "level", "precision", "providers")
    rows = [{**row, "key": key, "cells": [cell for _ in labels]} for key in chief]
    return {"columns": columns, "rows": rows, "hits": [], "hit_count": "", "total": 293, "search": ""}


@pytest.mark.parametrize(("width", "labels"), [(280, "AB"), (460, "ABCD")])
def test_narrow_cells_show_the_value_and_an_open_list_all(widget_page: Page, width: int, labels: str) -> None:
    drawn = widget_page.evaluate(KNOBS, [width, knobs_of(labels)])
    assert drawn["heads"] == list(labels)
    assert drawn["before"] == drawn["after"] == ["2" for _ in labels] * 4
    assert drawn["values"] == ["default: 2" for _ in labels] * 4
    assert drawn["listed"] == VALUES


def test_roomy_cells_say_that_the_value_is_the_default(widget_page: Page) -> None:
    drawn = widget_page.evaluate(KNOBS, [900, knobs_of("AB")])
    assert drawn["heads"] == ["A config", "B config"]
    assert drawn["before"] == drawn["after"] == ["default: 2", "default: 2"] * 4
