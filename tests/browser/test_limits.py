"""The line of limits below a comparison: typed by a person, answered in words, within its column."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import tab
from tests.browser.harness.places import source_of

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LINE, ANSWER = ".wbp-page:visible .wbp-tools", ".wbp-page:visible .wbp-limits"
# Which fields, buttons and texts of the line stick out of the tab, found and measured in one step.
OUTSIDE = """() => {
  const rows = [...document.querySelectorAll('.wbp-page .wbp-tools')];
  const row = rows.find((e) => e.textContent.includes('limits?') && e.checkVisibility());
  const page = row.closest('.wbp-page').getBoundingClientRect();
  return [...row.parentElement.querySelectorAll('input, button, li, .wbp-limits, .wbp-note')]
    .filter((e) => e.checkVisibility())
    .filter((e) => e.getBoundingClientRect().right > page.right + 1 || e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("width", [1024, pytest.param(1440, marks=pytest.mark.release)])
def test_a_limit_that_is_typed_is_answered_below_the_line(
    show: Show, lab: Lab, pages: Pages, width: int
) -> None:
    page = show(source_of(lab.folder, "faster"), width=width).page
    for name in ("Timing", "Explore"):
        tab(page, name)
        answers_below_its_line(page)
        pages.picture(page, f"limits-{name}-{width}")
        assert page.evaluate(OUTSIDE) == [], name
        forgets_its_answer(page)


def answers_below_its_line(page: Page) -> None:
    """Type two limits; the answer and its code stand below the line."""
    line, answer = page.locator(LINE, has_text="Within limits?"), page.locator(ANSWER)
    expect(line).to_be_visible()
    expect(answer).to_have_count(0)
    line.get_by_label("p99").fill("500")
    line.get_by_label("memory").fill("100000")
    line.get_by_label("memory").press("Enter")
    expect(answer.first).to_contain_text("asked for")
    expect(page.locator(".wbp-page:visible")).to_contain_text(
        ".best(max_p99_s=0.5, max_memory_bytes=104857600000)"
    )
    expect(line.get_by_role("button", name="Code")).to_be_visible()
    answer.first.scroll_into_view_if_needed()


def forgets_its_answer(page: Page) -> None:
    """Empty the fields; no answer is left."""
    line = page.locator(LINE, has_text="Within limits?")
    line.get_by_label("p99").fill("")
    line.get_by_label("memory").fill("")
    line.get_by_label("memory").press("Enter")
    expect(page.locator(ANSWER)).to_have_count(0)
