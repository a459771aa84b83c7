"""Budgets of the panels: clicks for the common tasks, and Compare always on the screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import SECTIONS, button, compared, knob, turned
from tests.browser.test_panels import opened

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

GOLDEN = Path(__file__).parents[1] / "records" / "golden" / "comparison-1.ortbench"
HISTORY = f"""import workbench as wb
wb.open({str(GOLDEN)!r}).keep()
bench = wb.Workbench()
bench"""


@dataclass
class Clicks:
    """Counts what a person does: a click, or a choice from a list."""

    page: Page
    count: int = 0

    def click(self, place: Locator) -> None:
        self.count += 1
        place.click()

    def choose(self, place: Locator, value: str) -> None:
        self.count += 1
        place.select_option(value)

    def spent(self) -> int:
        count, self.count = self.count, 0
        return count


def selected(page: Page, name: str) -> None:
    """Wait until the results have turned to this tab and nothing runs."""
    turned(page, name)
    expect(page.locator(".wbp-progress")).to_have_count(0)


def test_common_tasks_take_few_clicks(show: Show) -> None:
    page = opened(show, 1.0).page
    clicks = Clicks(page)
    clicks.choose(knob(page, "level"), "basic")
    clicks.click(button(page, "Compare"))
    compared(page)
    assert clicks.spent() <= 4, "all against basic"
    for name, tab in (("Explain", "graph"), ("Profile", "flame"), ("Ablate", "fusions")):
        page.locator(".wbp-tabs").get_by_role("tab", name="latency").click()
        turned(page, "latency")
        clicks.click(button(page, name))
        selected(page, tab)
        assert clicks.spent() == 1, name
    clicks.click(button(page, "why?"))
    assert clicks.spent() == 1, "why slower"
    expect(page.locator(".wbp-progress")).to_have_count(0)
    clicks.click(button(page, "share"))
    expect(button(page, "Export HTML")).to_be_visible()
    assert clicks.spent() == 1, "share"
    clicks.choose(page.get_by_title("Begin with a config for a purpose"), "int8 on the CPU")
    expect(page.locator(".wbp-difference")).to_contain_text("int8")
    clicks.click(button(page, "Compare"))
    compared(page)
    expect(page.locator(".wbp-verdict")).to_contain_text("outputs")
    assert clicks.spent() <= 2, "int8 with its error"


def test_a_result_is_reopened_from_the_history_with_two_clicks(show: Show) -> None:
    page = show(HISTORY).page
    expect(page.locator(".wbk tbody tr").first).to_be_visible()
    clicks = Clicks(page)
    clicks.click(page.locator(".wbp-tabs").get_by_role("tab", name="history"))
    clicks.click(page.locator(".wbt-act").first)
    expect(page.locator(".wbp-verdict[data-kind]")).to_be_visible()
    assert clicks.spent() == 2


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1366, 768)])
def test_compare_is_on_the_screen_with_any_section_open(
    show: Show, pages: Pages, lab: Lab, width: int, height: int
) -> None:
    del lab
    page = opened(show, width=width, height=height).page
    compare = button(page, "Compare")
    expect(compare).to_be_in_viewport(ratio=1)
    for name in SECTIONS:
        head = page.locator(".wbp-section-button", has_text=name)
        head.click()
        expect(head).to_contain_text("▾")
        expect(compare).to_be_in_viewport(ratio=1)
        pages.picture(page, f"compare-{width}-{name}")
        head.click()
        expect(head).to_contain_text("▸")
