"""The panels in a real JupyterLab: by mouse, by keyboard, while something runs, after a reload, a restart."""

from __future__ import annotations

import onnx
import pytest
from onnx import helper
from playwright.sync_api import Page, expect

from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.book import Book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import (
    MENU,
    SECTIONS,
    TABS,
    TAKEN,
    button,
    compared,
    each_card,
    knob,
    make,
    menu_item,
    stopped,
    tab,
    turned,
    until,
    workers,
)
from tests.core.models import tiny

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

START = "import workbench as wb\nbench = wb.Workbench('digits-conv')\nbench.state.budget_s = {budget}\nbench"
# Nothing is settled of equal configs this exactly: it runs until it is cancelled.
ENDLESS = START.format(budget=600.0).replace("bench.state", "bench.state.smallest_effect = 1e-6\nbench.state")
CLICKS = 5
# Presses a button and, as soon as possible, Cancel. A short run may be over before the page shows it:
# then there is nothing to cancel.
START_AND_CANCEL = """async (name) => {
  const all = () => [...document.querySelectorAll('.wbp button')];
  const find = (name) => all().find((element) => element.textContent.trim() === name);
  find(name).click();
  for (let frame = 0; frame < 120 && find('Cancel').disabled; frame += 1) {
    await new Promise(requestAnimationFrame);
  }
  find('Cancel').click();
}"""
# Items of the menu whose middle something else covers or whose list cuts them.
HIDDEN_ITEMS = """() => [...document.querySelectorAll('.wbm-list button')].filter((item) => {
  const {left, right, top, bottom} = item.getBoundingClientRect();
  const middle = (top + bottom) / 2;
  return [left + 3, right - 3].some((x) => document.elementFromPoint(x, middle) !== item);
}).map((item) => item.textContent)"""
DROP = """(bytes) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(bytes)], 'dropped.onnx'));
  const place = document.querySelector('.wbp-headline');
  place.dispatchEvent(new DragEvent('drop', {dataTransfer, bubbles: true, cancelable: true}));
}"""
HOSTILE = "<img src=x onerror=\"document.title='pwned'\">"


def opened(show: Show, budget_s: float = 2.0, **options: object) -> Book:
    return with_model(show(START.format(budget=budget_s), **options))  # type: ignore[arg-type]


def with_model(book: Book) -> Book:
    expect(book.page.locator(".wbp-headline")).to_contain_text("digits-conv")
    return book


def answered_ms(page: Page) -> list[float]:
    """How long a section takes to open or close after a click, some times."""
    took: list[float] = page.evaluate(
        """async (clicks) => {
          const took = [];
          const all = [...document.querySelectorAll('.wbp-section-button')];
          const section = all.find((element) => element.textContent.includes('memory'));
          for (let click = 0; click < clicks; click += 1) {
            const before = section.textContent;
            const began = performance.now();
            section.click();
            while (section.textContent === before) await new Promise(requestAnimationFrame);
            took.push(performance.now() - began);
          }
          return took;
        }""",
        CLICKS,
    )
    return took


def test_enter_opens_a_path_and_a_dropped_file_opens(show: Show, lab: Lab) -> None:
    page = with_model(show(START.format(budget=1.0))).page
    file = tiny.save(tiny.mlp(), lab.folder)
    path = page.locator(".wbp-model-row input[list]")
    path.fill(str(file))
    path.press("Enter")
    expect(page.locator(".wbp-headline")).to_contain_text("tiny")
    page.evaluate(DROP, [*file.read_bytes()])
    expect(page.locator(".wbp-headline")).to_contain_text("dropped")


def test_clicks_are_answered_while_a_comparison_runs(show: Show) -> None:
    """Each is answered in mid-run; how soon is in `python -m benchmarks.panels clicks`."""
    page = with_model(show(ENDLESS)).page
    button(page, "Compare").click()
    expect(page.locator(".wbp-doing")).to_contain_text("round 2")
    assert len(answered_ms(page)) == CLICKS
    for name in TABS:
        tab(page, name)
        expect(page.locator(".wbp-page:visible")).not_to_be_empty()
    knob(page, "level").select_option("basic")
    expect(page.locator(".wbp-difference")).to_contain_text("level (basic")
    expect(page.locator(".wbp-doing")).to_contain_text("round")
    button(page, "Cancel").click()
    stopped(page)


@pytest.mark.parametrize("name", ["Compare", "Level by level", "Ablate"])
def test_cancel_leaves_no_process(show: Show, name: str) -> None:
    """How soon is in `python -m benchmarks.panels cancel`."""
    page = with_model(show(ENDLESS)).page
    button(page, name).click() if name == "Compare" else make(page, name)
    until(page, lambda: bool(workers()))
    button(page, "Cancel").click()
    stopped(page)
    assert not workers()
    expect(button(page, "Compare")).to_be_enabled()
    expect(page.locator(".wbp-error")).to_have_count(0)


def test_a_short_run_is_cancelled_or_done_and_the_verdict_stays(show: Show) -> None:
    """Which of the two is a race; that a cancel ends each of them is in tests/test_cancelling.py."""
    page = opened(show, 1.0).page
    button(page, "Compare").click()
    compared(page)
    verdict = page.locator(".wbp-verdict").inner_text()
    button(page, "share as…").click()
    for name in ("Explain A and B", "Profile A and B", "Export HTML"):
        page.evaluate(START_AND_CANCEL, name)
        expect(button(page, "Compare")).to_be_enabled()
        expect(page.locator(".wbp-progress")).to_have_count(0)
        until(page, lambda: not workers())
        expect(page.locator(".wbp-error")).to_have_count(0)
    assert page.locator(".wbp-verdict").inner_text() == verdict


def test_two_reloads_in_mid_run_find_it_again(show: Show) -> None:
    book = with_model(show(ENDLESS))
    page = book.page
    button(page, "Compare").click()
    expect(page.locator(".wbp-doing")).to_contain_text("round")
    book.save()
    for _ in range(2):
        page.reload()
        expect(page.locator(".wbp-doing")).to_contain_text("round")
        before = page.locator(".wbp-doing").inner_text()
        expect(page.locator(".wbp-doing")).not_to_have_text(before)  # it moves on
    button(page, "Cancel").click()
    stopped(page)


def test_a_kernel_restart_in_mid_run_leaves_no_orphan(show: Show) -> None:
    book = with_model(show(ENDLESS))
    button(book.page, "Compare").click()
    until(book.page, lambda: bool(workers()))
    book.restart_kernel()
    until(book.page, lambda: not workers())


def test_names_that_carry_script_are_text_everywhere(show: Show, lab: Lab) -> None:
    proto = tiny.mlp()
    proto.graph.name = HOSTILE
    for node in proto.graph.node:
        node.name = f"{HOSTILE}{node.output[0]}"
    proto.producer_name = HOSTILE
    file = lab.folder / "<img src=x onerror=document.title=1>.onnx"
    onnx.save(
        helper.make_model(proto.graph, opset_imports=proto.opset_import, ir_version=proto.ir_version), file
    )
    book = show(
        f"import workbench as wb\nbench = wb.Workbench({str(file)!r})\nbench.state.budget_s = 1.0\nbench"
    )
    page = book.page
    expect(page.locator(".wbp-headline")).to_contain_text("<img src=x")
    button(page, "Compare").click()
    compared(page)
    for name, place in (("Explain A and B", "graph"), ("Profile A and B", "flame")):
        make(page, name)
        tab(page, place)
        expect(page.locator(".wbp-page:visible .wbp-pills button").first).to_be_visible()
        expect(page.locator(".wbp-progress")).to_have_count(0)
    button(page, "Find improvements").click()
    tab(page, "findings")
    expect(page.locator(".wbp-findings:visible")).to_contain_text("rules looked")
    expect(page.locator(".wbp-progress")).to_have_count(0)  # its end turns to its tab
    for name in TABS:
        tab(page, name)
        assert page.locator(TAKEN).count() == 0, name
        for pill in each_card(page):
            assert page.locator(TAKEN).count() == 0, f"{name}, {pill}"
    assert page.title() != "pwned"
    assert page.title() != "1"


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 460])
def test_it_is_accessible_and_fits(show: Show, pages: Pages, theme: str, width: int) -> None:
    page = opened(show, width=width, theme=theme).page
    if width < 760:
        page.locator(".wbp-fold").click()
    for name in SECTIONS:
        page.locator(".wbp-section-button", has_text=name).click()
    button(page, "Compare").click()
    compared(page)
    expect(page.locator(".wbp-tabs .js-plotly-plot .main-svg").first).to_be_visible()
    pages.picture(page, f"panels-{theme}-{width}")
    assert faults(page, ".wbp") == []
    beyond = page.evaluate(
        "(() => { const b = document.querySelector('.wbp'); return b.scrollWidth - b.clientWidth; })()"
    )
    assert beyond <= 1, "something sticks out"


def test_the_menu_of_results_is_used_by_keys_alone(show: Show) -> None:
    page = opened(show, width=1440, height=900).page
    opener, listed = button(page, MENU), page.locator(".wbm-list")
    opener.focus()
    page.keyboard.press("Enter")
    expect(menu_item(page, "Measure alone")).to_be_focused()
    expect(listed).to_be_in_viewport(ratio=1)
    assert page.evaluate(HIDDEN_ITEMS) == []
    page.keyboard.press("ArrowUp")
    expect(menu_item(page, "Decode…")).to_be_focused()
    page.keyboard.press("r")
    expect(menu_item(page, "Roofline")).to_be_focused()
    assert faults(page, ".wbp") == []
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    expect(opener).to_be_focused()
    make(page, "Sweep…")
    turned(page, "scenarios")
    opener.click()
    page.locator(".wbp-headline").click()
    expect(listed).to_be_hidden()
