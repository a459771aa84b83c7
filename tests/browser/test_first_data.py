"""The first data of every tab is near its top: no prose and no rows of buttons push it out of sight."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import tab
from tests.factories import results as examples
from tests.factories.comparisons import ordinary

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE = "import workbench as wb\nbench = wb.Workbench()\nbench.show(wb.open('first.ortbench'))\nbench"
TABS = ("latency", "graph", "fusions", "flame", "memory", "accuracy", "roofline")
DATA = "canvas, .main-svg .subplot, .main-svg .sankey, .wbt table"
MOST = 300  # pixels below the top of the tab's page
FROM_TOP = """data => {
  const top = data.closest('.wbp-page').getBoundingClientRect().top;
  return data.getBoundingClientRect().top - top;
}"""


@pytest.mark.parametrize("width", [1440, 1024])
def test_the_first_data_stands_within_300_pixels(show: Show, lab: Lab, pages: Pages, width: int) -> None:
    wb.Comparison(ordinary(), parts=examples.parts()).save(lab.folder / "first.ortbench")
    page = show(SOURCE, width=width).page
    far = {}
    for name in TABS:
        tab(page, name)
        first = page.locator(".wbp-page:visible").locator(DATA).first
        expect(first).to_be_visible()
        pixels = first.evaluate(FROM_TOP)
        if pixels > MOST:
            far[name] = pixels
        pages.picture(page, f"first-data-{name}-{width}")
    assert far == {}
