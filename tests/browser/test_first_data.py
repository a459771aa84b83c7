"""The first data of every tab is near its top: no prose and no rows of buttons push it out of sight."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import PILLS, TABS, VIEWS, tab
from tests.browser.harness.places import MOST, WAYS, first_data, source_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CUT_TILES = """[...document.querySelectorAll('.wbp-verdict .v-tile, .wbp-verdict .v-value')]
  .filter((tile) => tile.scrollWidth > tile.clientWidth + 1).map((tile) => tile.textContent)"""
# The tops of the next steps below the answer: one where they stand in one line.
LINES = """() => [...new Set([...document.querySelectorAll('.wbp-next button')]
  .filter((link) => link.checkVisibility()).map((link) => Math.round(link.getBoundingClientRect().top)))]"""

TAB_LINES = """new Set([...document.querySelectorAll('.wbp-tabs [role=tab]')]
  .map((tab) => Math.round(tab.getBoundingClientRect().top))).size"""
FOLLOW = """() => document.querySelector('.wbp-page .js-plotly-plot')
  .on('plotly_relayout', () => { window.followed = true; })"""
# The height of the figure and that of its place, once plotly has followed the window.
HEIGHTS = """() => window.followed && ['.main-svg', '.wbp-figure']
  .map((name) => document.querySelector(`.wbp-page ${name}`).getBoundingClientRect().height)"""

# Whether the inspector of the graph stands within the window.
INSPECTOR = """() => {
  const places = [...document.querySelectorAll('.wbp-page .wbv-details')];
  const place = places.find((each) => each.checkVisibility());
  const box = place && place.getBoundingClientRect();
  return !!box && box.height > 0 && box.top > 0 && box.bottom <= innerHeight;
}"""
# The tops of the links to speedscope and of the buttons beside them, once they are there.
TRACE_TOPS = """() => {
  const link = [...document.querySelectorAll('.wbp-page .wbs-link')].find((each) => each.checkVisibility());
  const items = link ? [...link.closest('.wbp-tools').querySelectorAll('.wbs-link, button')] : [];
  return items.length > 3 && items.map((item) => item.getBoundingClientRect().top);
}"""


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
    tab(page, VIEWS[0])  # the answer stands above the views
    expect(page.locator(".wbp-next button").first).to_be_visible()
    assert page.evaluate(CUT_TILES) == []
    if width >= 1440:
        assert len(page.evaluate(LINES)) == 1, "a link stands in a second line"
    if width == 1440:
        assert page.evaluate(TAB_LINES) == 1, "all tabs stand in one line beside the file browser"
        page.set_viewport_size({"width": 1366, "height": 1000})
        page.wait_for_function(f"({LINES})().length === 1")


def test_a_figure_stays_when_the_height_of_the_window_changes(show: Show, lab: Lab) -> None:
    page = show(source_of(lab.folder, "tie"), width=1440, height=900).page
    tab(page, "Timing")
    expect(page.locator(".wbp-page .main-svg").first).to_be_visible()
    page.evaluate(FOLLOW)
    page.set_viewport_size({"width": 1440, "height": 1300})
    drawn, place = page.wait_for_function(HEIGHTS).json_value()
    assert place >= drawn > 200


def test_the_inspector_of_the_graph_is_on_the_screen(show: Show, lab: Lab) -> None:
    page = show(source_of(lab.folder, "tie"), width=1440, height=900).page
    tab(page, "What ORT did")
    page.locator(PILLS).filter(has_text="graph").click()
    page.locator(".wbp-page .wbv-details:visible").scroll_into_view_if_needed()
    page.wait_for_function(INSPECTOR)


def test_links_and_buttons_above_the_flame_stand_level(show: Show, lab: Lab) -> None:
    page = show(source_of(lab.folder, "tie"), width=1440).page
    tab(page, "Where time goes")
    tops = sorted(set(page.wait_for_function(TRACE_TOPS).json_value()))
    assert all(below - above > 10 for above, below in pairwise(tops)), f"uneven by some pixels: {tops}"
