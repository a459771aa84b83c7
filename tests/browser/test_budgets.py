"""Budgets of the panels: clicks for the common tasks, and Compare always on the screen."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import (
    IN_VIEW,
    MOST_CONTROLS,
    STOP,
    VIEW_TOP,
    button,
    compared,
    knob,
    tab,
)
from tests.browser.harness.screen import WATCH_SHIFTS, view_in_sight
from tests.browser.harness.tasks import FRESH_TASKS, START, TASKS, Clicks, Task, ended, spent_on
from tests.browser.test_panels import ENDLESS, opened, with_model
from tests.core.models import tiny

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

WIDE = 80_000  # of an MLP whose file is large enough for int8 to be suggested


def within_budget(tasks: tuple[Task, ...], spent: dict[str, int]) -> None:
    assert {task.name: spent[task.name] for task in tasks if spent[task.name] > task.most} == {}


def test_common_tasks_take_few_clicks(show: Show) -> None:
    page = show(START.format(model="digits-conv", budget_s=1.0)).page
    expect(page.locator(".wbp-headline")).to_contain_text("digits-conv")
    within_budget(TASKS, spent_on(page, TASKS))


def test_int8_with_accuracy_one_thread_and_an_own_file_take_few_clicks(show: Show, lab: Lab) -> None:
    path = tiny.save(tiny.mlp(WIDE), lab.folder, "wide.onnx")
    page = show(START.format(model=str(path), budget_s=1.0)).page
    within_budget(FRESH_TASKS, spent_on(page, FRESH_TASKS))


@pytest.mark.release
def test_int8_shows_the_error_of_the_outputs_after_two_clicks(show: Show) -> None:
    page = opened(show, 1.0).page
    clicks = Clicks(page)
    clicks.choose(knob(page, "precision"), "dynamic int8")
    clicks.click(button(page, "Compare"))
    compared(page)
    expect(page.locator(".wbp-verdict")).to_contain_text("utputs")
    assert clicks.spent() == 2


def test_few_controls_are_in_view_and_the_answer_with_the_top_of_its_view(show: Show) -> None:
    page = opened(show, 1.0, width=1440, height=900).page
    button(page, "Compare").click()
    compared(page)
    in_view = page.evaluate(IN_VIEW)
    assert len(in_view) <= MOST_CONTROLS, in_view
    assert view_in_sight(page) >= VIEW_TOP
    expect(button(page, "Compare")).to_be_in_viewport(ratio=1)


def test_nothing_moves_when_a_run_starts_and_is_stopped(show: Show) -> None:
    page = with_model(show(ENDLESS)).page
    page.evaluate(WATCH_SHIFTS)
    button(page, "Compare").click()
    expect(page.locator(".wbp-doing")).to_contain_text("round")
    button(page, STOP).click()
    expect(button(page, "Compare")).to_be_enabled()
    assert page.evaluate("window.shifts") == []


@pytest.mark.parametrize("view", ["Timing", "What ORT did"])
def test_nothing_moves_until_a_run_ends_by_itself(show: Show, view: str) -> None:
    """What ORT did explains when it is turned to; the comparison after a change of threads brings nothing."""
    page = opened(show, 1.0).page
    button(page, "Compare").click()
    compared(page)
    tab(page, view)
    if view != "Timing":
        expect(page.locator(".wbp-answer.wbp-folded")).to_be_visible()
    page.evaluate(WATCH_SHIFTS)
    ended(page, view)
    knob(page, "intra-op threads").select_option("1")
    expect(page.locator(".wbp-difference")).to_contain_text("intra-op threads (1")
    button(page, "Compare").click()
    expect(page.locator(".wbp-doing")).to_contain_text("round")
    expect(page.locator(".wbp-progress")).to_have_count(0)
    expect(page.locator(".wbp-difference")).to_contain_text("intra-op threads (1")
    assert page.evaluate("window.shifts") == []
