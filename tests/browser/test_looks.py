"""Words in figures are readable: their contrast to what lies behind them, in both themes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, TypeAlias

import pytest
from playwright.sync_api import Browser, Page, expect

import workbench as wb
from benchmarks.looks import drawn_or_failed
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.panels import PILLS, tab, until
from tests.factories import results as examples
from tests.factories.comparisons import ordinary
from workbench.core.errors import WorkbenchError

pytestmark = [pytest.mark.browser, pytest.mark.slow]

Theme: TypeAlias = Literal["light", "dark"]
LEAST = 4.5  # WCAG 2.2, AA, for text of any size
TABS = ("Timing",)
SHOWN = "import workbench as wb\nbench = wb.Workbench()\nbench.show(wb.open({path!r}))\nbench"
# The lowest contrast of the words in the figures of this part of the page, and whose it is.
FAINTEST = """within => {
  const parts = (color) => {
    const [red, green, blue, alpha = 1] = color.match(/[\\d.]+/g).map(Number);
    return {rgb: [red, green, blue], alpha};
  };
  const over = (top, under) => top.rgb.map((part, at) => part * top.alpha + under[at] * (1 - top.alpha));
  const light = (rgb) => {
    const [red, green, blue] = rgb.map((part) => part / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = (element) => {
    const layers = [];
    for (let layer = element; layer; layer = layer.parentElement) {
      const color = parts(getComputedStyle(layer).backgroundColor);
      if (color.alpha) layers.unshift(color);
      if (color.alpha === 1) break;
    }
    return layers.reduce((under, top) => over(top, under), [255, 255, 255]);
  };
  const contrasts = [];
  // What plotly writes in a bar has the bar for its ground, and a colour that plotly chose for it.
  for (const word of document.querySelectorAll(`${within} .main-svg text:not(.bartext-inside)`)) {
    if (!word.textContent.trim() || !word.getClientRects().length) continue;
    const behind = ground(word.closest('.js-plotly-plot'));
    // A part of a text may have a colour of its own, as the letter of a run has.
    const walker = document.createTreeWalker(word, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const part = walker.currentNode;
      if (!part.textContent.trim()) continue;
      const fill = parts(getComputedStyle(part.parentElement).fill);
      const [front, back] = [light(over(fill, behind)), light(behind)];
      contrasts.push([(Math.max(front, back) + 0.05) / (Math.min(front, back) + 0.05), part.textContent]);
    }
  }
  return contrasts.sort((first, second) => first[0] - second[0])[0] ?? null;
}"""

# Whether the swatch of no time is nearly as light, or as dark, as the page; without a theme it is grey.
FIRST_SHADE = """light => {
  const swatch = document.querySelector('.wbp-page .wbv-legend canvas');
  if (!swatch || !swatch.checkVisibility()) return false;
  const shades = [...swatch.getContext('2d').getImageData(18, 12, 1, 1).data].slice(0, 3);
  return shades.every((shade) => (light ? shade > 225 : shade < 60));
}"""


def readable(page: Page, within: str) -> None:
    contrast, words = until(page, lambda: page.evaluate(FAINTEST, within), f"that there are words {within}")
    assert contrast >= LEAST, f"{words!r} has a contrast of {contrast:.2f}"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    result = wb.Comparison(ordinary(), parts=examples.parts())
    return result.save(tmp_path_factory.mktemp("bundle") / "result.ortbench")


@pytest.mark.parametrize("theme", [pytest.param("light", marks=pytest.mark.release), "dark"])
def test_words_of_figures_in_the_panels(show: Show, pages: Pages, bundle: Path, theme: Theme) -> None:
    page = show(SHOWN.format(path=str(bundle)), theme=theme).page
    for name in TABS:
        page.locator(".wbp-tabs").get_by_role("tab", name=name, exact=True).click()
        expect(page.locator(".wbp-page:visible .main-svg text").first).to_be_visible()
        readable(page, ".wbp-page")
        pages.picture(page, f"contrast-{theme}-{name}")
    tab(page, "What ORT did")
    page.locator(PILLS).get_by_text("fusions", exact=True).click()
    expect(page.locator(".wbp-page:visible .wbt-picked").first).to_be_visible()
    pages.picture(page, f"contrast-{theme}-fusions")
    assert faults(page, ".wbp-page") == [], "the picked row, too"
    page.locator(PILLS).get_by_text("graph", exact=True).click()
    page.wait_for_function(FIRST_SHADE, arg=theme == "light")


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.release)])
def test_words_of_figures_in_an_exported_page(pages: Pages, bundle: Path, theme: Theme) -> None:
    path = wb.open(bundle).export_html(bundle.with_suffix(".html"))
    page = pages.open(path.as_uri(), theme=theme, offline=True)
    figures = page.locator("figure.plot")
    expect(page.locator("figure.plot .js-plotly-plot")).to_have_count(figures.count())
    expect(page.locator("figure.plot .main-svg text").first).to_be_visible()
    readable(page, "figure.plot")


def test_a_cell_that_fails_ends_the_wait_for_pictures(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(
        '<div class="jp-RenderedText" data-mime-type="application/vnd.jupyter.error">'
        "ModelError: 'bert-tiny' is neither a file here nor a sample</div>"
    )
    with pytest.raises(WorkbenchError, match="'bert-tiny' is neither a file here nor a sample"):
        drawn_or_failed(page)
    page.close()
