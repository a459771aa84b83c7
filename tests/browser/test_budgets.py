"""Budgets of the panels: clicks for the common tasks, and Compare always on the screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import SECTIONS, button, compared
from tests.browser.harness.tasks import FRESH_TASKS, START, TASKS, Clicks, Task, spent_on
from tests.browser.test_panels import opened
from tests.core.models import tiny

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

WIDE = 80_000  # of an MLP whose file is large enough for int8 to be suggested


def within_budget(tasks: tuple[Task, ...], spent: dict[str, int]) -> None:
    assert {task.name: spent[task.name] for task in tasks if spent[task.name] > task.most} == {}


def test_common_tasks_take_few_clicks(show: Show) -> None:
    page = show(START.format(model="digits-conv", budget_s=1.0)).page
    expect(page.locator(".wbp-headline")).to_contain_text("digits-conv")
    within_budget(TASKS, spent_on(page, TASKS))


def test_int8_and_its_accuracy_take_two_clicks(show: Show, lab: Lab) -> None:
    path = tiny.save(tiny.mlp(WIDE), lab.folder, "wide.onnx")
    page = show(START.format(model=str(path), budget_s=1.0)).page
    within_budget(FRESH_TASKS, spent_on(page, FRESH_TASKS))


def test_the_preset_int8_shows_the_error_of_the_outputs_after_two_clicks(show: Show) -> None:
    page = opened(show, 1.0).page
    clicks = Clicks(page)
    clicks.choose(page.get_by_title("Begin with a config for a purpose"), "int8 on the CPU")
    expect(page.locator(".wbp-difference")).to_contain_text("int8")
    clicks.click(button(page, "Compare"))
    compared(page)
    expect(page.locator(".wbp-verdict")).to_contain_text("outputs")
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
