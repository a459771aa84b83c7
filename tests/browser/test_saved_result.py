"""The panels with a saved result in a real JupyterLab: what the long paths do, in seconds and with no run."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import TABS, button, knob, tab
from tests.factories import results as examples
from tests.factories.comparisons import ordinary

pytestmark = pytest.mark.browser

SOURCE = "import workbench as wb\nbench = wb.Workbench()\nbench.show(wb.open('saved.ortbench'))\nbench"


def test_a_saved_result_is_shown_tab_by_tab_and_its_code_copied(show: Show, lab: Lab, pages: Pages) -> None:
    result = wb.Comparison(ordinary(), parts=examples.parts())
    result.save(lab.folder / "saved.ortbench")
    page = show(SOURCE).page
    verdict = page.locator(".wbp-verdict[data-kind] b").first
    expect(verdict).to_contain_text("faster")
    for name in TABS:
        tab(page, name)
        shown = page.locator(".wbp-page:visible")
        expect(shown.locator(".wbp-note", has_text="drawing…")).to_have_count(0)
        expect(shown.locator(".wbp-error")).to_have_count(0)
    tab(page, "Timing")
    expect(page.locator(".wbp-page:visible").locator(".main-svg, .plot-img").first).to_be_visible()
    pages.picture(page, "saved-result")
    button(page, "share").click()
    page.locator(".wbm-list").get_by_text("Code", exact=True).click()
    expect(page.locator(".wbp-code")).to_contain_text("wb.history().open")
    level = knob(page, "level")
    level.focus()
    page.keyboard.type("basic")
    expect(page.locator(".wbp-difference")).to_contain_text("level (basic")
    expect(level).to_be_focused()
    assert faults(page, ".wbp") == []
