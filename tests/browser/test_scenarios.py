"""The scenarios tab in a page: fields are typed, a sweep runs, the heat table is sorted without a kernel."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import PILLS, PRESS, button, tab
from tests.factories import results as examples
from tests.features.accuracy.first_difference.test_first_difference import image_model, relu_pool_tanh
from tests.features.published.test_published import put_files
from workbench.features.base.registry import KINDS

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SOURCE = """import workbench as wb
bench = wb.Workbench('digits-conv')
bench.state.budget_s = 1.0
bench"""
CALLERS = KINDS.named("load test").form[0].text_for()
VERSIONS, BISECT = "Run this config on ONNX Runtime", "and search for the release of a change:"
LONGEST_MS = 300_000  # three versions are installed
HEADS = "nodes => nodes.map((node) => node.textContent)"


def choose(page: Page, name: str) -> None:
    """Choose a form, by its pill or in the list of further ones."""
    assert page.evaluate(PRESS, name)
    expect(page.locator(".wbp-forms:visible:not([data-before])")).to_be_visible()


@pytest.mark.parametrize("width", [1400, pytest.param(460, marks=pytest.mark.release)])
def test_the_fields_fit_and_a_sweep_runs_by_what_was_typed(show: Show, pages: Pages, width: int) -> None:
    page = show(SOURCE, width=width).page
    expect(page.locator(".wbp-headline")).to_contain_text("digits-conv")
    tab(page, "Explore")
    field = page.locator(".wbp-forms:visible")
    page.locator(PILLS).filter(has_text="load test").click()
    expect(field.get_by_label("Ask with")).to_have_value(CALLERS)
    pages.picture(page, f"scenarios-{width}")
    assert faults(page, ".wbp-forms") == []
    beyond = page.evaluate(
        "(() => { const b = document.querySelector('.wbp'); return b.scrollWidth - b.clientWidth; })()"
    )
    assert beyond <= 1, "something sticks out"
    if width < 760:
        return
    page.locator(PILLS).filter(has_text="sweep").click()
    over = field.get_by_label("Run all configs over")
    over.fill("batch")
    over.press("Tab")
    values = field.get_by_placeholder("1, 8, 32")
    values.fill("1, 2")
    values.press("Tab")
    button(page, "Sweep").click()
    expect(page.locator(".wbp-page:visible .wbp-card .main-svg").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Sweep again"))).to_be_enabled()
    expect(page.locator(".wbp-page:visible .wbp-heading")).to_contain_text("2 points of batch")
    pages.picture(page, "scenarios-sweep")


def test_the_published_files_of_a_folder_are_judged_in_the_form(
    show: Show, pages: Pages, tmp_path: Path
) -> None:
    put_files(tmp_path)
    page = show(SOURCE).page
    expect(page.locator(".wbp-headline")).to_contain_text("digits-conv")
    tab(page, "Explore")
    choose(page, "published files")
    field = page.locator(".wbp-forms:visible")
    field.get_by_label("Judge the files of", exact=True).fill(str(tmp_path))
    field.get_by_label("Judge the files of", exact=True).press("Tab")
    button(page, "Published files").click()
    card = page.locator(".wbp-page:visible .wbp-card")
    expect(card.locator(".main-svg").first).to_be_visible(timeout=LONGEST_MS)
    heading = page.locator(".wbp-page:visible .wbp-heading")
    expect(heading).to_contain_text("Returns noise: model_q4.onnx; does not load: model_int8.onnx")
    expect(heading).to_contain_text("within a limit of the file, take model_fp16.onnx from")
    page.get_by_label("file", exact=True).fill("100")
    page.get_by_label("file", exact=True).press("Tab")
    expect(page.locator(".wbp-limits")).to_contain_text("yes: ")
    assert faults(page, ".wbp-forms") == []
    pages.picture(page, "scenarios-published")


def test_the_release_of_a_change_is_searched_for(show: Show, pages: Pages, tmp_path: Path) -> None:
    """ONNX Runtime 1.21.0 pools otherwise than 1.20.1; both, and one after them, are installed by number."""
    model = image_model(relu_pool_tanh(), tmp_path / "pool.onnx")
    page = show(SOURCE.replace("digits-conv", str(model))).page
    expect(page.locator(".wbp-headline")).to_contain_text("pool")
    tab(page, "Explore")
    choose(page, "versions")
    field = page.locator(".wbp-forms:visible")
    for label, text in ((VERSIONS, "1.20.1, 1.21.0, 1.22.0"), (BISECT, "yes")):
        field.get_by_label(label, exact=True).fill(text)
        field.get_by_label(label, exact=True).press("Tab")
    pages.picture(page, "scenarios-bisect-form")
    button(page, "Versions").click()
    heading = page.locator(".wbp-page:visible .wbp-heading")
    expect(heading).to_contain_text("The outputs changed from 1.20.1 to 1.21.0", timeout=LONGEST_MS)
    expect(page.locator(".wbp-page:visible .wbp-card .main-svg").first).to_be_visible()
    assert faults(page, ".wbp-forms") == []
    pages.picture(page, "scenarios-bisect")


def test_the_heat_table_of_an_exported_page_is_sorted_by_its_menu(lab: Lab, pages: Pages) -> None:
    record = examples.matrix()
    path = wb.Matrix(record, examples.about()).export_html(lab.folder / "matrix.html")
    page = pages.open()
    page.goto(path.as_uri())
    names = page.locator(".yaxislayer-above .ytick text")
    expect(names).to_have_count(3)
    assert names.evaluate_all(HEADS) == ["tiny", "small", "gone"]
    page.locator(".updatemenu-header").click()
    page.locator(".updatemenu-dropdown-button", has_text="sorted by A").click()
    expect(names.first).to_have_text("tiny")
    pages.picture(page, "matrix-sorted")
    page.locator(".updatemenu-header").click()
    page.locator(".updatemenu-dropdown-button", has_text="as given").click()
    expect(names.last).to_have_text("gone")
