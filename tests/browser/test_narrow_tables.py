"""Tables fit narrow windows: nothing is cut, and nothing scrolls sideways. JupyterLab is not needed."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page

from tests.factories.comparisons import comparison, drawn_run, failed, ordinary
from workbench.core.glossary import explained, meaning
from workbench.drawing.numbers import numbers_table
from workbench.drawing.page.banner import numbers_html

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDGET = "table"
WIDTHS = (230, 400, 560)  # pixels of a tab at 390, 1024 and 1440 pixels of the window
# How far the numbers of a comparison stick out of their place, how many lines the heads stand in, how many
# columns the configs, and how wide the reason of a failure is, if there is one.
NUMBERS = """([html, width]) => {
  const place = document.querySelector('.wbp');
  place.style.width = `${width}px`;
  place.innerHTML = html;
  const scroll = place.querySelector('.v-scroll');
  const heads = [...place.querySelectorAll('thead th')];
  const tops = heads.map((head) => Math.round(head.getBoundingClientRect().top));
  const configs = [...place.querySelectorAll('tbody th')];
  const lefts = configs.map((head) => Math.round(head.getBoundingClientRect().left));
  const reason = place.querySelector('.v-failure');
  const beyond = scroll.scrollWidth - scroll.clientWidth;
  const room = reason ? reason.getBoundingClientRect().width : width;
  return [beyond, new Set(tops).size, new Set(lefts).size, room];
}"""
# A table in a place of this width. Returned: how far it sticks out, its cells, the heights of its rows, and
# whether a click unfolds the first folded cell.
TABLE = """([table, width]) => {
  const place = document.querySelector('.wbp');
  place.style.width = `${width}px`;
  const root = document.createElement('div');
  place.replaceChildren(root);
  const rest = {key: -1, under: -1, hidden: -1, action: '', picked: []};
  const state = {caption: '', total: 1, ...rest, ...table};
  renderTable({model: {get: (name) => state[name], on() {}, off() {}}, el: root});
  const scroll = root.querySelector('.wbt-scroll');
  const heights = [...root.querySelectorAll('tbody tr')].map((row) => row.getBoundingClientRect().height);
  const cells = [...root.querySelectorAll('tbody td')].map((cell) => cell.textContent);
  const beyond = scroll.scrollWidth - scroll.clientWidth;
  const long = root.querySelector('.wbt-folded');
  const before = long && long.clientHeight;
  if (long) root.querySelector('.wbt-more').click();
  return {beyond, heights, cells, unfolds: !!long && long.clientHeight > before};
}"""
NAMES = """() => {
  const names = [...document.querySelectorAll('tbody td .wbt-name')];
  return [names.map((name) => name.textContent), names.map((name) => name.getBoundingClientRect().height)];
}"""
REASON = 3 * "A 12× B 12× SkipLayerNormFusion did not run at this level; EmbedLayerNormFusion neither; "
FUSIONS = {
    "columns": [
        {"name": name, "number": name in ("could", "A", "B")}
        for name in ("fusion", "could", "A", "B", "why not", "what would help")
    ],
    "rows": [
        ["LayerNormalization + Add", 12, 0, 0, REASON, REASON],
        ["Add + Relu → BiasRelu", 5, 5, 5, "", ""],
    ],
    "key": 0,
}
HISTORY = {
    "columns": [
        {"name": name, "number": False}
        for name in ("when", "ago", "model", "A → B", "verdict", "ratio", "pin", "note", "id")
    ],
    "rows": [
        ["2026-11-21 08:00", "2 days ago", "digits-conv", "level basic → ORT defaults", "not settled", None,
         "★", "a note of some words", "20261121-080000-abcdef"],
    ],
    "key": 8, "hidden": 8, "under": 1, "action": "Open",
}  # fmt: skip


@pytest.mark.parametrize("width", WIDTHS)
def test_the_numbers_of_two_configs_fit(widget_page: Page, width: int) -> None:
    for record in (ordinary(), comparison(drawn_run("A", 0.002), failed("B", f"no kernel of '/{30 * 'a'}'"))):
        beyond, lines, columns, reason = widget_page.evaluate(
            NUMBERS, [numbers_html(numbers_table(record)), width]
        )
        assert beyond <= 1
        assert lines == (1 if width > 500 else 9), "each config is a column where the heads do not fit"
        assert columns == (1 if width > 500 else 2)
        assert reason > 0.6 * width


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("table", [FUSIONS, HISTORY], ids=["fusions", "history"])
def test_a_table_of_many_columns_fits(widget_page: Page, table: dict[str, Any], width: int) -> None:
    assert widget_page.evaluate(TABLE, [table, width])["beyond"] <= 1


def test_a_long_cell_is_folded_and_unfolds(widget_page: Page) -> None:
    drawn = widget_page.evaluate(TABLE, [FUSIONS, 560])
    assert max(drawn["heights"]) < 100, "a few lines, not fifteen"
    assert drawn["unfolds"]


def test_numbers_have_as_many_digits_as_their_column_says(widget_page: Page) -> None:
    columns = [{"name": "median (ms)", "number": True, "digits": 3}, {"name": "share", "number": True}]
    rows = [[1.98765, 1.98765], [0.00123456, 12345.6], [1234.56, 250]]
    drawn = widget_page.evaluate(TABLE, [{"columns": columns, "rows": rows}, 560])
    assert drawn["cells"] == ["1.99", "1.988", "0.00123", "12,346", "1,235", "250"]
    drawn = widget_page.evaluate(TABLE, [{"columns": columns, "rows": [[1.1, 1.1]]}, 560])
    assert drawn["cells"] == ["1.10", "1.1"], "as many digits as those above and below"


def test_a_long_name_is_broken_before_a_capital_letter(widget_page: Page) -> None:
    text = "AttentionFusion and EmbedLayerNormFusion of bert"
    table = {"columns": [{"name": "passes", "number": False}], "rows": [[text]]}
    assert widget_page.evaluate(TABLE, [table, 560])["cells"] == [text]
    names, heights = widget_page.evaluate(NAMES)
    assert names == ["AttentionFusion", "EmbedLayerNormFusion"]
    assert max(heights) < 20, "a name is broken only where a line has no room for it"


def test_the_head_of_a_column_has_the_sentence_of_its_word_as_tooltip(widget_page: Page) -> None:
    columns = [{"name": name, "help": explained(name)} for name in ("node", "p99 (ms)")]
    widget_page.evaluate(TABLE, [{"columns": columns, "rows": [["x", 1.5]]}, 560])
    heads = [head.get_attribute("title") for head in widget_page.locator(".wbp thead th").all()]
    assert heads == ["", meaning("p99")]
