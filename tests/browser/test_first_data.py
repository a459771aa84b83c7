"""The first data of every tab is near its top: no prose and no rows of buttons push it out of sight."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import TABS, button
from tests.browser.harness.places import MOST, WAYS, first_data, source_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CUT_TILES = """[...document.querySelectorAll('.wbp-verdict .v-tile, .wbp-verdict .v-value')]
  .filter((tile) => tile.scrollWidth > tile.clientWidth + 1).map((tile) => tile.textContent)"""
# The tops of the links below the verdict, *Measure longer* among them: one where they stand in one line.
LINES = """() => [...new Set([...document.querySelectorAll('.wbp-questions button')]
  .filter((link) => link.checkVisibility()).map((link) => Math.round(link.getBoundingClientRect().top)))]"""


@pytest.mark.parametrize(("way", "width"), [*((way, 1440) for way in WAYS), ("faster", 1024)])
def test_the_first_data_stands_within_300_pixels(
    show: Show, lab: Lab, pages: Pages, way: str, width: int
) -> None:
    page = show(source_of(lab.folder, way), width=width).page
    far = {}
    for name in TABS:
        pixels = first_data(page, name)
        if pixels > MOST:
            far[name] = pixels
        pages.picture(page, f"first-data-{way}-{name}-{width}")
    assert far == {}
    assert page.evaluate(CUT_TILES) == []
    expect(button(page, "Measure longer")).to_be_visible()
    if width >= 1440:
        assert len(page.evaluate(LINES)) == 1, "a link stands in a second line"
