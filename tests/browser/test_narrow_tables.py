"""Tables fit narrow windows: nothing is cut, and nothing scrolls sideways. No JupyterLab is needed for that."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from tests.factories.comparisons import comparison, drawn_run, failed, ordinary
from workbench.figures.numbers import numbers_table
from workbench.panels.style import STYLE
from workbench.report.banner import numbers_html

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDTHS = (230, 400, 560)  # pixels of a tab at 390, 1024 and 1440 pixels of the window
# How far the numbers of a comparison stick out of their place, and how many lines the heads stand in.
NUMBERS = """([html, width]) => {
  const place = document.querySelector('.wbp');
  place.style.width = `${width}px`;
  place.innerHTML = html;
  const scroll = place.querySelector('.v-scroll');
  const tops = [...place.querySelectorAll('thead th')].map((head) => Math.round(head.getBoundingClientRect().top));
  return [scroll.scrollWidth - scroll.clientWidth, new Set(tops).size];
}"""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f'<meta charset="utf-8">{STYLE}<div class="wbp"></div>')
    yield page
    page.close()


@pytest.mark.parametrize("width", WIDTHS)
def test_the_numbers_of_two_configs_fit(page: Page, width: int) -> None:
    for record in (ordinary(), comparison(drawn_run("A", 0.002), failed("B", "no such kernel"))):
        beyond, lines = page.evaluate(NUMBERS, [numbers_html(numbers_table(record)), width])
        assert beyond <= 1
        assert lines == (1 if width > 500 else 9), "each config is a column where the heads do not fit"
