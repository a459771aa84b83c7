"""The mode Improve in a page: under a limit in two clicks; a point of the figure picks its config."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import button, tab, until
from tests.browser.harness.places import save_searched
from tests.factories import results as examples

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE = """from dataclasses import replace
import workbench as wb
bench = wb.Workbench()
parts = {{"improvement/A": wb.open({searched!r})}}
bench.state.answer = replace(bench.state.answer, parts=parts)
bench"""
PLACE = """() => {
  const point = document.querySelector('.wbp-page .scatterlayer .trace .points path');
  if (!point) return null;
  point.scrollIntoView({ block: 'center' });
  const box = point.getBoundingClientRect();
  return [box.x + box.width / 2, box.y + box.height / 2];
}"""
WIDTHS = (1024, 1440, 1920)
# The fields whose placeholder is wider than they are, once the panels have taken the width of the window.
CUT_PLACEHOLDERS = """width => {
  if (innerWidth !== width) return null;
  const brush = document.createElement('canvas').getContext('2d');
  const fields = [...document.querySelectorAll('.wbp-configs input[placeholder]')];
  const visible = fields.filter((field) => field.checkVisibility() && field.placeholder);
  return {count: visible.length, cut: visible.filter((field) => {
    const style = getComputedStyle(field);
    brush.font = `${style.fontSize} ${style.fontFamily}`;
    const room = field.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return brush.measureText(field.placeholder).width > room;
  }).map((field) => field.placeholder)};
}"""


def test_a_click_on_a_point_of_the_figure_picks_its_config(show: Show, lab: Lab, pages: Pages) -> None:
    searched = save_searched(lab.folder / "picked.ortbench")
    page = show(SOURCE.format(searched=str(searched))).page
    tab(page, "Improve")
    picked = page.locator(".wbp-page .wbt-picked td").first
    expect(picked).to_have_text("B")  # the best one

    def picks() -> bool:
        """Click once more, where nothing was drawn before; not at once, since a double click is another."""
        if place := page.evaluate(PLACE):
            page.mouse.click(*place)
        with suppress(AssertionError):
            expect(picked).to_have_text("A", timeout=1_000)
        return picked.inner_text() == "A"

    until(page, picks)
    button(page, "Use as B").first.click()
    expect(page.locator(".wbp-page:visible")).to_contain_text("B is set")
    button(page, "+ limit: memory, p99, file…").click()
    expect(page.get_by_label("load time", exact=True)).to_be_visible()
    expect(button(page, "What may vary")).to_be_visible()
    pages.picture(page, "searched")
    assert faults(page, ".wbp-page") == []
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 1000})
        fields = page.wait_for_function(CUT_PLACEHOLDERS, arg=width).json_value()
        assert fields["count"] >= 7
        assert fields["cut"] == [], f"at {width} pixels"


LIMITED = """import workbench as wb
import workbench.features.improve.result as calling
asked = []
def improve(model, config, **options):
    asked.append(options["limits"])
    return wb.open({improvement!r})
calling.improve = improve
bench = wb.Workbench("digits-conv")
bench"""


def test_improving_under_a_limit_takes_two_clicks(show: Show, lab: Lab, pages: Pages) -> None:
    record = replace(examples.improvement(), findings=examples.findings())
    improvement = wb.Improvement(record, examples.about())
    path = improvement.save(lab.folder / "improved.ortbench")
    page = show(LIMITED.format(improvement=str(path))).page
    tab(page, "Improve")
    row = page.locator(".wbp-improve-row")
    expect(row.locator("select").first.locator("option:checked")).to_have_text("1 % accuracy")
    button(page, "Improve").last.click()
    tried = page.locator(".wbp-steps .wbp-finding")
    expect(tried).to_have_count(2)
    expect(page.locator(".wbp-improvement")).to_contain_text("1 finding, each with its evidence and fix")
    expect(button(page, "Find improvements")).to_be_hidden()
    expect(tried.first).to_contain_text("✓ Kept")
    expect(tried.first).to_contain_text("predicted")
    expect(page.locator(".wbp-improve .wbp-verdict")).to_be_visible()
    expect(page.locator(".wbp-improve .wbp-figure")).to_be_visible()
    pages.picture(page, "improved")
    assert faults(page, ".wbp-page") == []
