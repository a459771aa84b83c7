"""Axe finds no barrier in any state of the answer: whole, folded to a line, and in projector mode."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from benchmarks.look_states import source_in
from tests.browser.conftest import Show
from tests.browser.harness.axe import ANY, faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import button, tab

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

LIGHT, DARK = "light", "dark"


@pytest.mark.parametrize(
    ("state", "theme"),
    [
        ("failed", LIGHT),
        ("fallback", DARK),
        ("unknown", LIGHT),
        pytest.param("failed", DARK, marks=pytest.mark.release),
        pytest.param("fallback", LIGHT, marks=pytest.mark.release),
        pytest.param("unknown", DARK, marks=pytest.mark.release),
    ],
)
def test_no_state_of_the_answer_has_a_barrier(
    show: Show, lab: Lab, pages: Pages, state: str, theme: str
) -> None:
    page = show(source_in(lab.folder, state, None), theme=theme).page
    expect(page.locator(".wbp-verdict[data-kind]")).to_be_visible()
    assert faults(page, ".wbp", ANY) == []
    tab(page, "What ORT did")
    expect(page.locator(".wbp-answer.wbp-folded")).to_be_visible()
    expect(page.locator(".wbp-progress")).to_have_count(0)
    assert faults(page, ".wbp", ANY) == []
    button(page, "A⁺").click()
    expect(page.locator(".wbp-told")).to_contain_text("against A")
    pages.picture(page, f"barriers-{state}-{theme}")
    assert faults(page, ".wbp", ANY) == []
    tab(page, "Timing")
    expect(page.locator(".wbp-answer.wbp-folded")).to_have_count(0)
    assert faults(page, ".wbp", ANY) == []
