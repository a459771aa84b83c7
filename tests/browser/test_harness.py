"""The harness itself: it sees what it is there to see."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import until

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SLIDER = "import ipywidgets as W\nW.IntSlider(description='threads', style={'description_width': '6em'})"
PALE = "from IPython.display import HTML\nHTML('<p style=\"color:#bbb;background:#fff\">too pale</p>')"


@pytest.mark.parametrize("theme", [pytest.param("light", marks=pytest.mark.release), "dark"])
def test_a_notebook_is_shown_run_and_looked_at(show: Show, pages: Pages, theme: str) -> None:
    book = show("6 * 7", SLIDER, PALE, theme=theme)
    expect(book.output(0)).to_contain_text("42")
    expect(book.output(1).locator(".widget-slider")).to_be_visible()
    assert book.page.evaluate("document.body.dataset.jpThemeLight") == str(theme == "light").lower()
    rules = {fault.rule for fault in faults(book.page, ".jp-Cell-outputArea")}
    assert rules == {"color-contrast"}, "the slider is known, the pale text is not"
    assert pages.picture(book.page, f"harness-{theme}").stat().st_size > 0


def test_a_request_elsewhere_is_noticed(lab: Lab, pages: Pages) -> None:
    pages.provoked.append("net::ERR_UNSAFE_PORT")
    page = pages.open(lab.url("login"))
    page.evaluate("fetch('http://127.0.0.2:9/away').catch(() => null)")
    assert pages.strangers(lab.base) == ["http://127.0.0.2:9/away"]
    pages.asked.clear()


def test_errors_of_a_page_are_noticed(pages: Pages) -> None:
    page = pages.open("about:blank")
    page.evaluate("console.error('written'); setTimeout(() => { throw new Error('thrown'); })")
    until(page, lambda: len(pages.thrown) == 2)
    assert pages.thrown[0].startswith("written")
    assert "thrown" in pages.thrown[1]
    pages.thrown.clear()
