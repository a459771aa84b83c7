"""The panels in a real JupyterLab: by mouse, by keyboard, while something runs, after a reload, a restart."""

from __future__ import annotations

import re

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
    STOP,
    TABS,
    TAKEN,
    all_settings,
    button,
    change,
    compared,
    each_card,
    knob,
    make,
    maker,
    share,
    stopped,
    tab,
    until,
    workers,
)
from tests.core.models import tiny

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

START = "import workbench as wb\nbench = wb.Workbench('digits-conv')\nbench.state.budget_s = {budget}\nbench"
# Nothing is settled of equal configs this exactly: it runs until it is cancelled.
ENDLESS = START.format(budget=600.0).replace("bench.state", "bench.state.smallest_effect = 1e-6\nbench.state")
CLICKS = 5
# Presses a button and, as soon as possible, what stops it. A short run may be over before the page shows it:
# then there is nothing to stop.
START_AND_STOP = """async (pressed) => {
  const all = () => [...document.querySelectorAll('.wbp button')].filter((place) => place.checkVisibility());
  const find = (name) => all().find((element) => element.textContent.trim() === name);
  pressed.click();
  for (let frame = 0; frame < 120 && !find('Stop here'); frame += 1) await new Promise(requestAnimationFrame);
  find('Stop here')?.click();
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
    """How long the kernel takes to answer a click that opens or closes the passes, some times."""
    all_settings(page)
    expect(page.locator(".wbk-row", has_text=re.compile("^disabled passes$"))).to_be_visible()
    took: list[float] = page.evaluate(
        """async (clicks) => {
          const took = [];
          const rows = () => document.querySelectorAll('.wbk-drawer tr').length;
          const all = [...document.querySelectorAll('.wbk-row')];
          const passes = all.find((element) => element.textContent === 'disabled passes');
          for (let click = 0; click < clicks; click += 1) {
            const before = rows();
            const began = performance.now();
            passes.click();
            while (rows() === before) await new Promise(requestAnimationFrame);
            took.push(performance.now() - began);
          }
          return took;
        }""",
        CLICKS,
    )
    page.keyboard.press("Escape")
    return took


def test_with_anywidget_enter_opens_a_path_and_a_dropped_file_opens(show: Show, lab: Lab) -> None:
    page = with_model(show(START.format(budget=1.0))).page
    expect(page.locator(".wbp-alive")).to_be_attached()
    expect(page.locator(".wbp-lacks")).to_be_hidden()
    display = page.locator(".wbp-lacks").evaluate("node => getComputedStyle(node).display")
    assert display == "none", "it stays hidden, however long the page is open"
    file = tiny.save(tiny.mlp(), lab.folder)
    button(page, "Open…").click()
    path = page.locator(".wbp-model-row input[list]")
    expect(path).to_be_focused()
    path.fill(str(file))
    path.press("Enter")
    expect(page.locator(".wbp-headline")).to_contain_text("tiny")
    expect(path).to_be_hidden()
    page.evaluate(DROP, [*file.read_bytes()])
    expect(page.locator(".wbp-headline")).to_contain_text("dropped")


def test_clicks_are_answered_while_a_comparison_runs_and_cancel_leaves_no_process(show: Show) -> None:
    """Each is answered in mid-run; how soon is in `python -m benchmarks.panels`, clicks and cancel."""
    page = with_model(show(ENDLESS)).page
    button(page, "Compare").dblclick()  # the second click would stop what the first one started
    expect(page.locator(".wbp-doing")).to_contain_text("round 2")
    assert len(answered_ms(page)) == CLICKS
    for name in TABS:
        tab(page, name)
        expect(page.locator(".wbp-page:visible").first).not_to_be_empty()
    tab(page, "Timing")
    knob(page, "level").select_option("basic")
    expect(page.locator(".wbp-difference")).to_contain_text("level (basic")
    expect(page.locator(".wbp-doing")).to_contain_text("round")
    button(page, STOP).click()
    expect(page.locator(".wbp-progress")).to_have_count(0)
    expect(page.locator(".wbp-why")).to_contain_text("last: digits-conv")  # it is not about what is set now
    nothing_is_left_of_the_run(page)


@pytest.mark.release
@pytest.mark.parametrize("name", ["Level by level", "Ablate"])
def test_cancel_leaves_no_process(show: Show, name: str) -> None:
    page = with_model(show(ENDLESS)).page
    make(page, name)
    until(page, lambda: bool(workers()))
    button(page, STOP).click()
    stopped(page)
    nothing_is_left_of_the_run(page)


def nothing_is_left_of_the_run(page: Page) -> None:
    assert not workers()
    expect(button(page, "Compare")).to_be_enabled()
    expect(page.locator(".wbp-error")).to_have_count(0)


def test_a_short_run_is_cancelled_or_done_and_the_verdict_stays(show: Show) -> None:
    """Which of the two is a race; that a cancel ends each of them is in tests/test_cancelling.py."""
    page = opened(show, 1.0).page
    button(page, "Compare").click()
    compared(page)
    verdict = page.locator(".wbp-verdict").inner_text()
    for name in ("Explain A and B", "Profile A and B"):
        maker(page, name).evaluate(START_AND_STOP)
        expect(button(page, "Compare")).to_be_enabled()
        expect(page.locator(".wbp-progress")).to_have_count(0)
        until(page, lambda: not workers())
        assert page.locator(".wbp-error").all_inner_texts() == []
    tab(page, "Timing")
    expect(page.locator(".wbp-verdict")).to_be_visible()
    assert page.locator(".wbp-verdict").inner_text() == verdict


def test_two_reloads_in_mid_run_find_it_again_and_a_kernel_restart_leaves_no_orphan(show: Show) -> None:
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
    until(page, lambda: bool(workers()))
    book.restart_kernel()
    until(book.page, lambda: not workers())


@pytest.mark.release
def test_names_that_carry_script_are_text_everywhere(show: Show, lab: Lab) -> None:
    proto = tiny.mlp()
    proto.graph.name = HOSTILE
    for node in proto.graph.node:
        node.name = f"{HOSTILE}{node.output[0]}"
    for value in (*proto.graph.input, *proto.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = HOSTILE
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
    for name in ("Explain A and B", "Profile A and B"):
        make(page, name)
        expect(page.locator(".wbp-progress")).to_have_count(1)
        expect(page.locator(".wbp-progress")).to_have_count(0)
        expect(page.locator(".wbp-page:visible .wbp-card").first).to_be_visible()
    for name in TABS:
        tab(page, name)
        assert page.locator(TAKEN).count() == 0, name
        for pill in each_card(page):
            assert page.locator(TAKEN).count() == 0, f"{name}, {pill}"
    tab(page, "Timing")
    all_settings(page)
    page.locator(".wbk-row", has_text=re.compile("^free dimensions$")).click()
    expect(page.locator(".wbk-inner", has_text="<img src=x").first).to_be_visible()
    assert page.locator(TAKEN).count() == 0, "knobs"
    assert page.title() != "pwned"
    assert page.title() != "1"


@pytest.mark.parametrize(
    ("theme", "width"),
    [
        ("dark", 460),
        pytest.param("light", 460, marks=pytest.mark.release),
        pytest.param("light", 1400, marks=pytest.mark.release),
        pytest.param("dark", 1400, marks=pytest.mark.release),
    ],
)
def test_it_is_accessible_and_fits(show: Show, pages: Pages, theme: str, width: int) -> None:
    page = opened(show, width=width, theme=theme).page
    all_settings(page)
    for name in ("providers", "disabled passes", "free dimensions"):
        page.locator(".wbk-row", has_text=re.compile(f"^{name}$")).click()
    expect(page.locator(".wbk-inner").first).to_be_visible()
    assert faults(page, ".wbp") == []
    page.keyboard.press("Escape")
    button(page, "+ change… in B").click()
    expect(page.locator(".wbk-list [role=option]").first).to_be_visible()
    assert faults(page, ".wbp") == []
    page.keyboard.press("Escape")
    button(page, "Compare").click()
    compared(page)
    expect(page.locator(".wbp-tabs .js-plotly-plot .main-svg").first).to_be_visible()
    pages.picture(page, f"panels-{theme}-{width}")
    assert faults(page, ".wbp") == []
    beyond = page.evaluate(
        "(() => { const b = document.querySelector('.wbp'); return b.scrollWidth - b.clientWidth; })()"
    )
    assert beyond <= 1, "something sticks out"


def test_the_menu_the_palette_and_the_projector_by_keys(show: Show) -> None:
    page = opened(show, width=1440, height=900).page
    arrows_turn_the_views_of_a_projector_and_escape_ends_it(page)
    the_palette_changes_any_knob_and_the_chip_leaves_it(page)
    the_menu_share_is_used_by_keys_alone(page)


def the_menu_share_is_used_by_keys_alone(page: Page) -> None:
    opener, listed = button(page, "share"), page.locator(".wbm-list")
    opener.focus()
    page.keyboard.press("Enter")
    expect(listed.get_by_role("menuitem").first).to_be_focused()
    expect(listed).to_be_in_viewport(ratio=1)
    assert page.evaluate(HIDDEN_ITEMS) == []
    page.keyboard.press("ArrowUp")
    expect(listed.get_by_role("menuitem").last).to_be_focused()
    page.keyboard.press("b")
    expect(listed.get_by_role("menuitem", name="Bundle")).to_be_focused()
    assert faults(page, ".wbp") == []
    page.keyboard.press("Escape")
    expect(listed).to_be_hidden()
    expect(opener).to_be_focused()
    share(page, "Code")
    expect(page.locator(".wbp-code")).to_be_visible()


def the_palette_changes_any_knob_and_the_chip_leaves_it(page: Page) -> None:
    opener, chips = button(page, "+ change… in B"), page.locator("[data-label=B] .wbk-chip")
    change(page, "spinning", "off")
    expect(opener).to_be_focused()
    expect(chips).to_have_text(["spinning: off×"])
    change(page, "denormal_as_zero", "on")
    expect(chips).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(chips).to_have_count(1)
    button(page, "leave spinning of B at its default").click()
    expect(chips).to_have_count(0)
    opener.click()
    page.keyboard.type("migraphx")
    expect(page.locator(".wbk-list .wbk-apart").first).to_contain_text("not in this")
    page.keyboard.press("Escape")
    expect(page.locator(".wbk-palette")).to_be_hidden()
    change(page, "preset: throughput", "")
    expect(chips).to_have_text(["spinning: off×"])
    expect(knob(page, "intra-op threads")).to_have_value("1")


def arrows_turn_the_views_of_a_projector_and_escape_ends_it(page: Page) -> None:
    shown = page.locator(".wbp-tabs [role=tab][aria-selected=true]")
    button(page, "A⁺").click()
    expect(page.locator(".wbp-told")).to_contain_text("against A")
    expect(page.locator(".wbk-lines")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    expect(shown).to_have_text("Where time goes")
    page.keyboard.press("ArrowLeft")
    expect(shown).to_have_text("Timing")
    page.keyboard.press("Escape")
    expect(page.locator(".wbk-lines")).to_be_visible()
