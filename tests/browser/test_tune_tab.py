"""The tune tab in a page: a click on a point of the Pareto figure picks its config."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import button, tab
from tests.factories import results as examples

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE = """import workbench as wb
bench = wb.Workbench()
bench.state.study = wb.open({study!r})
bench"""
MOST_CLICKS = 20  # until the plot hears them
CLICK = """() => {
  const point = document.querySelector('.wbp-page .scatterlayer .trace .points path');
  const over = document.querySelector('.wbp-page .js-plotly-plot .nsewdrag');
  if (!point || !over) return false;
  const box = point.getBoundingClientRect();
  const place = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2, bubbles: true, view: window };
  for (const kind of ['mousemove', 'mousedown', 'mouseup', 'click']) over.dispatchEvent(new MouseEvent(kind, place));
  return true;
}"""  # found and clicked in one step: a figure that is drawn again in between has another point


def test_a_click_on_a_point_of_the_figure_picks_its_config(show: Show, lab: Lab) -> None:
    study = wb.Study(examples.study()).save(lab.folder / "picked.ortbench")
    page = show(SOURCE.format(study=str(study))).page
    tab(page, "tune")
    picked = page.locator(".wbp-page .wbt-picked")
    expect(picked).to_have_count(0)
    for _ in range(MOST_CLICKS):
        page.evaluate(CLICK)
        page.wait_for_timeout(500)  # for the answer of the kernel; a further click does no harm
        if picked.count():
            break
    expect(picked).to_have_count(1)
    button(page, "Use as B").first.click()
    expect(page.locator(".wbp-page")).to_contain_text("B is set")
