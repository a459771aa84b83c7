"""A bundle whose every text is an attempt, in a real browser: as a page and in the panels, tab by tab."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import TABS, TAKEN, each_card, tab
from tests.features.base.strangers import GOLDEN, poisoned
from workbench.features.base.registry import KINDS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REPEATED = ("levels-2", "accuracy-2", "why-slower-2")  # kinds whose page is drawn by the same parts


def nothing_taken(page: Page) -> None:
    assert page.evaluate("window.hacked") is None
    assert page.locator(TAKEN).count() == 0


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The comparison with all that can be examined of it."""
    (golden,) = (path for path in GOLDEN if path.stem == "examined-2")
    path = tmp_path_factory.mktemp("stranger") / "stranger.ortbench"
    path.write_bytes(poisoned(golden)[1])
    return path


@pytest.mark.parametrize(
    "name", ["comparison-2", *(pytest.param(name, marks=pytest.mark.release) for name in REPEATED)]
)
def test_as_a_page(name: str, pages: Pages, tmp_path: Path) -> None:
    (golden,) = (path for path in GOLDEN if path.stem == name)
    file = tmp_path / "page.html"
    file.write_text(KINDS.result(poisoned(golden)[0]).page_html(), "utf-8")
    page = pages.open(file.as_uri(), offline=True)
    figures = page.locator("figure.plot")
    expect(page.locator("figure.plot .js-plotly-plot .main-svg").first).to_be_visible()
    expect(page.locator("figure.plot .js-plotly-plot")).to_have_count(figures.count())
    expect(page.locator("body")).to_contain_text("<img src=x onerror=window.hacked=1>")
    nothing_taken(page)
    assert pages.thrown == []


def test_in_the_panels(show: Show, lab: Lab, stranger: Path) -> None:
    (lab.folder / "stranger.ortbench").write_bytes(stranger.read_bytes())
    book = show(
        "import workbench as wb\nbench = wb.Workbench()\nbench.show(wb.open('stranger.ortbench'))\nbench"
    )
    page = book.page
    expect(page.locator(".wbp-verdict[data-kind]")).to_be_visible()
    for name in TABS:
        tab(page, name)
        nothing_taken(page)
        for _ in each_card(page):
            nothing_taken(page)
            turn = page.locator(".wbp-page:visible .wbp-menu").get_by_role("button", name="Table", exact=True)
            if turn.count():
                turn.first.click()
                expect(page.locator(".wbp-page:visible .wbp-card .wbt table").first).to_be_visible()
                nothing_taken(page)
