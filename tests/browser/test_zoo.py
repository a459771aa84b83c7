"""The first suggestion on trained models of other people ends in an answer, or says why there is none."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.zoo import NEVER, files, name_of
from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.panels import compared, drawn

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.release]

ZOO = os.environ.get("WORKBENCH_ZOO")
MODELS = files(Path(ZOO)) if ZOO else []
FIRST = re.compile(r"\? Compare$")
FIND = re.compile("^Find improvements")


@pytest.mark.skipif(not ZOO, reason="WORKBENCH_ZOO names no folder with the packages of benchmarks/zoo.py")
@pytest.mark.parametrize("path", MODELS, ids=name_of)
def test_the_first_suggestion_ends_in_an_answer(show: Show, pages: Pages, path: Path) -> None:
    page = show(f"import workbench as wb\nbench = wb.Workbench({str(path)!r})\nbench").page
    expect(page.locator(".wbp-headline")).to_contain_text(path.stem)
    page.get_by_role("button", name=FIRST).click()
    compared(page)
    drawn(page)
    answered(page)
    pages.picture(page, f"zoo-{name_of(path)}-answer")
    page.locator(".wbp-modes button", has_text="Improve").click()
    page.get_by_role("button", name=FIND).first.click()
    expect(page.locator(".wbp-page:visible .wbp-findings-head").first).to_be_visible()
    expect(page.locator(".wbp-progress")).to_have_count(0)
    answered(page)
    pages.picture(page, f"zoo-{name_of(path)}-findings")


def answered(page: Page) -> None:
    """Ask that nothing in the panels is an error without an explanation."""
    shown = page.locator(".wbp").first.inner_text()
    assert not any(word in shown for word in NEVER), shown
