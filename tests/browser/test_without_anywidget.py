"""JupyterLab in one environment, the kernel in another: a Lab without anywidget says so, and what works."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab, started_lab

pytestmark = pytest.mark.browser

NO_ANYWIDGET = "No version of module anywidget is registered"  # on the console
ERROR_BOX = ".jupyter-widgets-error-widget"
LACKS = "This JupyterLab lacks anywidget"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab with ipywidgets alone: `jupyter labextension disable anywidget` writes this file."""
    place = tmp_path_factory.mktemp("lab")
    config = place / "config" / "labconfig" / "page_config.json"
    config.parent.mkdir(parents=True)
    config.write_text(json.dumps({"disabledExtensions": {"anywidget": True}}))
    with started_lab(place) as started:
        yield started


def test_the_panels_say_what_is_missing_and_still_compare(show: Show, pages: Pages) -> None:
    pages.provoked.append(NO_ANYWIDGET)
    book = show("import workbench as wb\nbench = wb.Workbench('digits-conv')", "bench")
    notice = book.output(1).locator(".wbp-lacks")
    expect(notice).to_be_visible()
    expect(notice).to_contain_text(LACKS)
    expect(notice).to_contain_text("Where it runs: pip install anywidget")
    expect(notice).to_contain_text("pip install ort-workbench")
    for box in book.output(1).locator(ERROR_BOX).all():
        expect(box).to_be_hidden()
    notice.locator("select[title^='B: intra']").select_option("1")
    pages.picture(book.page, "without-anywidget")
    book.output(1).get_by_role("button", name="Compare", exact=True).last.click()
    expect(book.output(1).locator(".wbp-answer, .wbp-verdict").first).to_be_visible()


@pytest.mark.slow
def test_a_graph_in_a_cell_is_its_picture_with_a_word_why(show: Show, pages: Pages) -> None:
    pages.provoked.append(NO_ANYWIDGET)
    book = show("import workbench as wb", "wb.explain('digits-conv').graph()")
    expect(book.output(1)).to_contain_text(LACKS)
    expect(book.output(1).locator("img")).to_be_visible()
    expect(book.output(1).locator(ERROR_BOX)).to_be_hidden()
    pages.picture(book.page, "graph-without-anywidget")
