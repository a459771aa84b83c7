"""The scenarios tab in a page: fields are typed, a sweep runs, the heat table is sorted without a kernel."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import PILLS, button, tab
from tests.factories import results as examples

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE = """import workbench as wb
bench = wb.Workbench('digits-conv')
bench.state.budget_s = 1.0
bench"""
HEADS = "nodes => nodes.map((node) => node.textContent)"


@pytest.mark.parametrize("width", [1400, pytest.param(460, marks=pytest.mark.release)])
def test_the_fields_fit_and_a_sweep_runs_by_what_was_typed(show: Show, pages: Pages, width: int) -> None:
    page = show(SOURCE, width=width).page
    expect(page.locator(".wbp-headline")).to_contain_text("digits-conv")
    tab(page, "Explore")
    field = page.locator(".wbp-forms:visible")
    page.locator(PILLS).filter(has_text="load test").click()
    expect(field.get_by_label("callers")).to_have_value("1, 2, 4, 8")
    pages.picture(page, f"scenarios-{width}")
    assert faults(page, ".wbp-forms") == []
    beyond = page.evaluate(
        "(() => { const b = document.querySelector('.wbp'); return b.scrollWidth - b.clientWidth; })()"
    )
    assert beyond <= 1, "something sticks out"
    if width < 760:
        return
    page.locator(PILLS).filter(has_text="sweep").click()
    over = field.get_by_label("over")
    over.fill("batch")
    over.press("Tab")
    values = field.get_by_placeholder("1, 8, 32")
    values.fill("1, 2")
    values.press("Tab")
    button(page, "Sweep").click()
    expect(page.locator(".wbp-page:visible .wbp-card .main-svg").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Sweep again"))).to_be_enabled()
    expect(page.locator(".wbp-page:visible .wbp-heading")).to_contain_text("2 points of batch")
    pages.picture(page, "scenarios-sweep")


def test_the_heat_table_of_an_exported_page_is_sorted_by_its_menu(lab: Lab, pages: Pages) -> None:
    record = examples.matrix()
    path = wb.Matrix(record, examples.about()).export_html(lab.folder / "matrix.html")
    page = pages.open()
    page.goto(path.as_uri())
    names = page.locator(".yaxislayer-above .ytick text")
    expect(names).to_have_count(3)
    assert names.evaluate_all(HEADS) == ["tiny", "small", "gone"]
    page.locator(".updatemenu-header").click()
    page.locator(".updatemenu-dropdown-button", has_text="sorted by A").click()
    expect(names.first).to_have_text("tiny")
    pages.picture(page, "matrix-sorted")
    page.locator(".updatemenu-header").click()
    page.locator(".updatemenu-dropdown-button", has_text="as given").click()
    expect(names.last).to_have_text("gone")
