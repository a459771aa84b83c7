"""The first data of every tab is near its top: no prose and no rows of buttons push it out of sight."""

from __future__ import annotations

import pytest

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import TABS
from tests.browser.harness.places import MOST, WAYS, first_data, source_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CUT_TILES = """[...document.querySelectorAll('.wbp-verdict .v-tile, .wbp-verdict .v-value')]
  .filter((tile) => tile.scrollWidth > tile.clientWidth + 1).map((tile) => tile.textContent)"""


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
