"""The whole path of a person through the panels, by mouse and by keyboard alone, in a real JupyterLab."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Download, Locator, Page, expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.book import Book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.panels import TABS, Keys, button, compared, knob, make, share, tab, workers

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

START = "import workbench as wb\nbench = wb.Workbench()\nbench.state.budget_s = 2.0\nbench"
B = wb.Config(level="basic", intra_op_threads=1, precision=wb.DynamicInt8())


MAKES = (("Explain A and B", "What ORT did"), ("Profile A and B", "Where time goes"))  # and its view


def difference(page: Page) -> Locator:
    return page.locator(".wbp-difference")


def shows_something(page: Page, name: str) -> None:
    """The tab is filled, and nothing in it failed."""
    filled = page.locator(".wbp-page:visible").first
    expect(filled).not_to_be_empty()
    if name in ("Timing", "What ORT did", "Where time goes"):
        expect(filled.locator(".wbp-card").locator("canvas, .main-svg, .plot-img").first).to_be_visible()
    expect(page.locator(".wbp-progress")).to_have_count(0)
    expect(filled.locator(".wbp-error")).to_have_count(0)
    expect(filled.locator(".wbp-note", has_text="drawing…")).to_have_count(0)


def same_configs(code: str) -> None:
    """The copied text, run up to the comparison."""
    scope: dict[str, object] = {}
    exec(code.partition("result = ")[0], scope)
    assert (scope["a"], scope["b"]) == (wb.Config(), B)


def downloaded(download: Download, folder: Path) -> Path:
    """Under its own name, by whose ending a browser knows what it is."""
    path = folder / download.suggested_filename
    download.save_as(path)
    return path


def reopened(book: Book, pages: Pages, bundle: Path, exported: Path) -> None:
    """With the kernel stopped: the notebook, the bundle, the page."""
    page = book.page
    verdict = page.locator(".wbp-verdict b").first.inner_text()
    book.stop_kernel()
    pages.provoked += [
        "net::ERR_FAILED",
        "reading 'kernel'",
    ]  # JupyterLab misses the kernel that it may not start
    page.route(
        re.compile("/api/(sessions|kernels)"),
        lambda route: route.abort() if route.request.method == "POST" else route.continue_(),
    )
    page.reload()
    pinned = book.output(1)
    expect(pinned.locator("img, .js-plotly-plot .main-svg").first).to_be_visible()
    assert book.lab.ask("api/kernels") == [], "nothing runs"
    pinned_text = "".join(book.lab.read(book.name).cells[1].outputs[0].data["text/plain"])
    pages.picture(page, "panels-reopened")

    opened = wb.open(bundle)
    assert [run.config for run in opened.runs] == [wb.Config(), B]
    assert str(opened).splitlines()[0] == pinned_text.splitlines()[0]
    # accuracy is made by itself where that is quick
    assert {"explanation", "profile"} <= {part.kind for part in opened.parts}

    page = pages.open(exported.as_uri(), offline=True)
    expect(page.locator("header .wbp-verdict").first).to_contain_text(verdict)
    expect(page.locator("#graph canvas").first).to_have_attribute("data-painted", "yes")
    expect(page.locator("#time canvas").first).to_have_attribute("data-painted", "yes")


def test_a_person_with_a_mouse(show: Show, pages: Pages, tmp_path: Path) -> None:
    book = show(START)
    page = book.page
    model = page.get_by_label("model", exact=True)
    model.select_option(model.locator("option[value^='digits-conv (']").get_attribute("value"))
    expect(page.locator("details.wbp-headline")).to_contain_text("digits-conv")
    knob(page, "level").select_option("basic")
    knob(page, "intra-op threads").select_option("1")
    expect(difference(page)).to_contain_text("level (basic")
    expect(difference(page)).to_contain_text("intra-op threads (1")
    knob(page, "precision").select_option("dynamic int8")
    expect(difference(page)).to_contain_text("dynamic int8")
    button(page, "Compare").click()
    compared(page)
    for name, shown in MAKES:
        make(page, name)
        tab(page, shown)
        shows_something(page, shown)
    for name in TABS:
        tab(page, name)
        shows_something(page, name)
        pages.picture(page, f"panels-{name}")

    share(page, "Code")
    same_configs(page.locator(".wbp-code").inner_text())
    tab(page, "Timing")
    page.locator(".wbp-page:visible").get_by_role("button", name="Pin", exact=True).click()
    expect(page.locator(".wbp-card")).to_contain_text("Pinned below")
    assert "wb.history().open" in book.cell(1).inner_text()
    share(page, "Cell")
    expect(book.cell(2)).to_be_visible()
    with page.expect_download() as bundle:
        share(page, "Bundle")
    written = bundle.value.suggested_filename
    assert re.fullmatch(r"digits-conv(-2)?\.ortbench", written), (
        "the other test of this file may have written one"
    )
    expect(page.locator(".wbp-note", has_text=written)).to_be_visible()
    with page.expect_download() as download:
        share(page, "Page")
    book.save()
    assert not workers()
    reopened(book, pages, book.lab.folder / written, downloaded(download.value, tmp_path))


@pytest.mark.release
def test_a_person_with_a_keyboard(show: Show, pages: Pages, tmp_path: Path) -> None:
    book = show(START)
    page, keys = book.page, Keys(book.page)
    model = page.get_by_label("model", exact=True)
    model.focus()
    page.keyboard.type("digits-conv")
    expect(page.locator("details.wbp-headline")).to_contain_text("digits-conv")
    level = knob(page, "level")
    keys.reach(level)
    page.keyboard.type("basic")
    expect(difference(page)).to_contain_text("level (basic")
    expect(level).to_be_focused()
    keys.press("+ change… in B")
    page.keyboard.type("disabled passes")
    expect(page.locator(".wbk-list [aria-selected=true]")).to_contain_text("disabled passes")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="disabled passes of B")).to_be_focused()
    page.keyboard.type("ConstantFolding")
    page.keyboard.press("Enter")
    expect(difference(page)).to_contain_text("disabled passes")
    page.keyboard.press("Control+z")
    expect(difference(page)).not_to_contain_text("disabled passes")
    keys.reach(knob(page, "intra-op threads"), "Shift+Tab")
    page.keyboard.type("1")
    expect(difference(page)).to_contain_text("intra-op threads (1")
    keys.reach(knob(page, "precision"), "Shift+Tab")
    page.keyboard.type("dynamic int8")
    expect(difference(page)).to_contain_text("dynamic int8")
    keys.press("Compare")
    compared(page)
    for name, shown in MAKES:
        keys.make(name, "Tab" if shown == "What ORT did" else "Shift+Tab")
        expect(page.locator(".wbp-progress")).to_have_count(0)
        shows_something(page, shown)

    keys.share("Code")
    keys.press("Copy")
    expect(page.locator(".wbp-note", has_text="Copied")).to_be_visible()
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.locator(".wbp-code").inner_text()
    same_configs(copied)
    for name in TABS[1:]:
        keys.turn(name)
        shows_something(page, name)
    keys.turn("Timing")
    shows_something(page, "Timing")
    keys.press("Pin")
    expect(page.locator(".wbp-card")).to_contain_text("Pinned below")
    with page.expect_download() as bundle:
        keys.share("Bundle")
    written = bundle.value.suggested_filename
    assert re.fullmatch(r"digits-conv(-2)?\.ortbench", written), (
        "the other test of this file may have written one"
    )
    expect(page.locator(".wbp-note", has_text=written)).to_be_visible()
    with page.expect_download() as download:
        keys.share("Page")
    page.keyboard.press("Control+s")
    page.wait_for_function("() => !window.jupyterapp.shell.currentWidget.context.model.dirty")
    assert not workers()
    reopened(book, pages, book.lab.folder / written, downloaded(download.value, tmp_path))
