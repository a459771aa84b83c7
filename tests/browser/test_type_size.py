"""All text of the panels is large enough: for a reader, and in projector mode for the last row of a room."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from benchmarks.look_states import source_in
from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import VIEWS, button, drawn, tab

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LEAST, LEAST_PROJECTED = 14, 18  # pixels
ROUNDING = 0.05  # of scaled figures
# The texts and fields in sight that are smaller than `least` on the screen, where a figure may be scaled.
SMALL = """least => {
  const scale = ({a, b}) => Math.hypot(a, b);
  const size = (element) => parseFloat(getComputedStyle(element).fontSize)
    * (element.getScreenCTM ? scale(element.getScreenCTM()) : 1);
  const seen = (element) => element.checkVisibility({visibilityProperty: true, opacityProperty: true});
  const panels = document.querySelector('.wbp');
  const walker = document.createTreeWalker(panels, NodeFilter.SHOW_TEXT);
  const places = [...panels.querySelectorAll('input, select, textarea')].map((field) => [field, field.value]);
  while (walker.nextNode()) {
    const node = walker.currentNode, range = document.createRange();
    range.selectNodeContents(node);
    const wide = [...range.getClientRects()].some((box) => box.width > 1);
    if (node.textContent.trim() && wide) places.push([node.parentElement, node.textContent.trim()]);
  }
  const small = places.filter(([element]) => seen(element) && size(element) < least);
  const named = (element) => element.getAttribute('class') || element.tagName;
  return small.map(([place, text]) => `${size(place).toFixed(1)} ${named(place)}: ${text.slice(0, 40)}`);
}"""
# Whether the panels are in projector mode and every figure in sight fills its place and is not cut.
GROWN = """() => {
  const all = [...document.querySelectorAll('.wbp .js-plotly-plot')];
  const plots = all.filter((plot) => plot.checkVisibility());
  const fits = (plot) => {
    const [own, place] = [plot, plot.parentElement].map((element) => element.getBoundingClientRect());
    const drawn = plot.querySelector('.main-svg').clientWidth;
    return own.right <= place.right + 1 && own.bottom <= place.bottom + 1
      && Math.abs(drawn - plot.clientWidth) <= 1;
  };
  return document.querySelector('.wbp-projector')
    && plots.every((plot) => plot.dataset.wbpScale > 1 && fits(plot));
}"""
CUT = """() => [...document.querySelectorAll('.wbp :is(button, .v-tile, .wbp-why)')]
  .filter((place) => place.checkVisibility() && place.clientWidth > 1)
  .filter((place) => place.scrollWidth > place.clientWidth + 1)
  .map((place) => place.textContent.trim().slice(0, 40))"""
FOCUSED = ".wbm-list [role=menuitem]:focus"


def opened(show: Show, lab: Lab) -> Page:
    """Return the panels with a decided answer, a search and each kind of result."""
    setup, _, last = source_in(lab.folder, "decided", None).rpartition("\n")
    page = show(setup, last, width=1440, height=900).page
    expect(page.locator(".wbp-verdict[data-kind]").first).to_be_visible()
    return page


def test_no_text_is_smaller_than_14_pixels(show: Show, lab: Lab, pages: Pages) -> None:
    page = opened(show, lab)
    for name in (*VIEWS, "Improve"):
        tab(page, name)
        drawn(page)
        pages.picture(page, f"type-{name}")
        assert page.evaluate(SMALL, LEAST - ROUNDING) == [], name
        assert page.evaluate(CUT) == [], name


def test_in_projector_mode_all_text_and_every_figure_grow(show: Show, lab: Lab, pages: Pages) -> None:
    page = opened(show, lab)
    button(page, "A⁺").click()
    for name in VIEWS:
        tab(page, name)
        drawn(page)
        page.wait_for_function(GROWN)
        pages.picture(page, f"projected-{name}")
        assert page.evaluate(SMALL, LEAST_PROJECTED) == [], name
    page.keyboard.press("Escape")
    expect(page.locator(".wbk-lines")).to_be_visible()
    tab(page, "Improve")
    button(page, "A⁺").click()
    page.wait_for_function(GROWN)
    pages.picture(page, "projected-Improve")
    assert page.evaluate(SMALL, LEAST_PROJECTED) == []


def test_keys_of_what_lies_above_the_views_come_before_those_of_the_projector(show: Show, lab: Lab) -> None:
    page = opened(show, lab)
    button(page, "A⁺").click()
    button(page, "share").click()
    first = page.locator(FOCUSED).inner_text()
    page.keyboard.press("ArrowRight")
    expect(page.locator(FOCUSED)).not_to_have_text(first)
    page.keyboard.press("Escape")
    expect(page.locator(".wbm-list")).to_be_hidden()
    tab(page, "What ORT did")
    page.locator(".wbp-page:visible").get_by_text("Expand", exact=True).click()
    expect(page.locator(".wbv-expanded")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".wbv-expanded")).to_have_count(0)
    expect(page.locator(".wbp-projector")).to_be_visible()
