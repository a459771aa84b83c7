"""An exported page in a real browser: from the disk, offline, light and dark, wide and narrow."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.factories import results as examples
from tests.factories.graphs import hostile

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> str:
    result = wb.Comparison(examples.strangers(), parts=examples.parts(hostile()))
    return result.export_html(tmp_path_factory.mktemp("page") / "page.html").as_uri()


@pytest.mark.parametrize(
    ("width", "theme"),
    [
        (1400, "light"),
        (360, "dark"),
        pytest.param(360, "light", marks=pytest.mark.release),
        pytest.param(1400, "dark", marks=pytest.mark.release),
    ],
)
def test_it_opens_offline_and_runs_only_our_scripts(
    exported: str, pages: Pages, width: int, theme: Literal["light", "dark"]
) -> None:
    page = pages.open(exported, width=width, theme=theme, offline=True)
    figures = page.locator("figure.plot")
    expect(page.locator("figure.plot .js-plotly-plot")).to_have_count(figures.count())
    expect(page.locator(".wbv-stage canvas").first).to_have_attribute("data-painted", "yes")
    assert page.evaluate("window.hacked") is None
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing scrolls sideways"
    assert [url for url in pages.asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert pages.thrown == []
    pages.picture(page, f"export-{theme}-{width}")


def test_the_graph_and_the_flame_are_alive_and_linked(exported: str, pages: Pages) -> None:
    page = pages.open(exported, offline=True)
    expect(page.locator("#graph .wbv-stage canvas").first).to_have_attribute("data-painted", "yes")
    expect(page.locator("#time .wbv-stage canvas").first).to_have_attribute("data-painted", "yes")
    tables = page.locator("#passes details summary")
    tables.first.click()
    expect(page.locator("#passes details table").first).to_be_visible()


def test_no_fault_that_axe_finds(exported: str, pages: Pages) -> None:
    page = pages.open(exported)
    expect(page.locator(".wbv-stage canvas").first).to_have_attribute("data-painted", "yes")
    assert faults(page, "header, nav, #configs, #outputs, #measured") == []
