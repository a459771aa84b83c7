"""The first data of every tab is near its top: no prose and no rows of buttons push it out of sight."""

from __future__ import annotations

from itertools import pairwise

import pytest
from playwright.sync_api import Page, expect

from benchmarks.look_states import source_in
from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import TABS, VIEWS, tab
from tests.browser.harness.places import MOST, WAYS, first_data, source_of
from tests.browser.harness.screen import GRAPH_HEIGHT, GRAPH_WIDTH, GRAPHS, graph_area

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

# The drawer with the details of a pick, beside the graphs and within what the notebook shows.
DRAWER = """() => {
  const drawer = [...document.querySelectorAll('.wbp-page .wbv-details')].find((it) => it.checkVisibility());
  const box = drawer && drawer.querySelector('dl') && drawer.getBoundingClientRect();
  const over = drawer && drawer.scrollHeight - drawer.clientHeight;
  return box && {left: box.left, top: box.top, bottom: box.bottom, over};
}"""
# The tops of the links to speedscope and of the buttons beside them, once they are there.
TRACE_TOPS = """() => {
  const link = [...document.querySelectorAll('.wbp-page .wbs-link')].find((each) => each.checkVisibility());
  const items = link ? [...link.closest('.wbp-tools').querySelectorAll('.wbs-link, button')] : [];
  return items.length > 3 && items.map((item) => item.getBoundingClientRect().top);
}"""


@pytest.mark.parametrize(
    ("way", "width"),
    [
        pytest.param("faster", 1024, marks=pytest.mark.release),
        *(pytest.param(way, 1440, marks=() if way == "unknown" else pytest.mark.release) for way in WAYS),
    ],
)
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
        figure_follows_the_height(page)
        page.set_viewport_size({"width": 1366, "height": 1000})
        page.wait_for_function(f"({LINES})().length === 1")
        tab(page, "Where time goes")
        links_stand_level(page)


def figure_follows_the_height(page: Page) -> None:
    """Make the window higher; the figure stays, and no higher than its place."""
    expect(page.locator(".wbp-page .main-svg").first).to_be_visible()
    page.evaluate(FOLLOW)
    page.set_viewport_size({"width": 1440, "height": 1300})
    drawn, place = page.wait_for_function(HEIGHTS).json_value()
    assert place >= drawn > 200


def links_stand_level(page: Page) -> None:
    """Links and buttons above the flame stand at one height, or in lines of their own."""
    tops = sorted(set(page.wait_for_function(TRACE_TOPS).json_value()))
    assert all(below - above > 10 for above, below in pairwise(tops)), f"uneven by some pixels: {tops}"


def test_the_graph_and_the_details_of_a_pick_need_no_scrolling(show: Show, lab: Lab) -> None:
    setup, _, last = source_in(lab.folder, "decided", None).rpartition("\n")
    page = show(setup, last, width=1440, height=900).page
    graphs = graph_area(page)
    assert graphs["width"] >= GRAPH_WIDTH
    assert graphs["height"] >= GRAPH_HEIGHT
    place = page.locator(".wbp-page:visible")
    place.locator("input[type=search]").fill("LayerNormalization")
    place.locator("input[type=search]").press("Enter")
    drawer = page.wait_for_function(DRAWER).json_value()
    beside = page.evaluate(GRAPHS)
    assert drawer["left"] >= beside["right"], "the details cover the picture"
    assert graphs["top"] - 40 <= drawer["top"] < drawer["bottom"] <= graphs["end"] + 8
    assert drawer["over"] <= 1, "the details need a scroll"
