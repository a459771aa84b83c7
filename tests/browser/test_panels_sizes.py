"""The panels where there is little room, and with a model of many nodes."""

from __future__ import annotations

from dataclasses import replace

import onnx
import pytest
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.browser.harness.panels import PILLS, TABS, button, compared, knob, make, tab
from tests.browser.harness.places import record_of
from tests.browser.test_panels import START, answered_ms, opened
from tests.core.models.long import layers
from tests.factories.records import comparison

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.slow]

NARROW = ".jp-OutputArea-output { max-width: 360px !important; box-sizing: border-box; }"
BEYOND = """() => {
  const panels = document.querySelector('.wbp');
  const edge = panels.getBoundingClientRect().right + 1;
  const kinds = 'button, input, select, a, img, canvas, .wbp-verdict, .main-svg';
  const elements = [...panels.querySelectorAll(kinds)];
  return elements.filter((element) => element.offsetParent && element.getBoundingClientRect().right > edge)
    .map((element) => `${element.tagName} ${element.placeholder ?? ''} ${element.textContent.slice(0, 40)}`);
}"""
NODES = 12_000
DOUBTED = """import workbench as wb
bench = wb.Workbench()
bench.show(wb.open({file!r}))
bench"""
# What of the answer, which has a fixed height, lies beyond it.
HIDDEN = """() => {
  const edge = document.querySelector('.wbp-answer-words').getBoundingClientRect().bottom + 1;
  const kinds = '.wbp-answer :is(.v-lines > div, .v-axis, .v-doubts > summary, .v-tile)';
  const below = (part) => part.getBoundingClientRect().bottom > edge;
  return [...document.querySelectorAll(kinds)].filter(below).map((part) => part.textContent);
}"""


def test_an_output_of_360_pixels_is_enough(show: Show, pages: Pages) -> None:
    page = opened(show, width=700).page
    page.add_style_tag(content=NARROW)
    assert page.locator(".wbp").first.bounding_box()["width"] <= 360
    compare = button(page, "Compare")
    compare.click(trial=True)  # nothing lies over it
    compare.click()
    compared(page)
    tab(page, "Timing")
    expect(page.locator(".wbp-tabs .js-plotly-plot .main-svg").first).to_be_visible()
    pages.picture(page, "panels-360")
    assert page.evaluate(BEYOND) == []
    sticks_out = page.evaluate(
        "(() => { const b = document.querySelector('.wbp'); return b.scrollWidth - b.clientWidth; })()"
    )
    assert sticks_out <= 1


@pytest.mark.release
def test_twelve_thousand_nodes_are_opened_explained_and_drawn(show: Show, pages: Pages, lab: Lab) -> None:
    file = lab.folder / "long.onnx"
    onnx.save(layers(NODES), file)
    page = show(START.format(budget=2.0).replace("digits-conv", str(file))).page
    expect(page.locator(".wbp-headline")).to_contain_text("long")
    expect(page.locator(".wbp-headline")).to_contain_text("12,000")
    make(page, "Explain A and B")
    expect(page.locator(".wbp-doing")).to_contain_text("Explain")
    assert answered_ms(page), "clicks are answered meanwhile"
    expect(page.locator(".wbp-progress")).to_have_count(0)
    expect(page.locator(PILLS).get_by_text("fusions", exact=True)).to_be_visible()  # the view has the answer
    page.locator(PILLS).get_by_text("graph", exact=True).click()
    expect(page.locator(".wbp-page:visible canvas").first).to_be_visible()
    expect(page.locator(".wbp-page:visible .wbp-error")).to_have_count(0)
    pages.picture(page, "panels-12000")
    assert answered_ms(page), "and with the graph on the screen"


def test_a_phone_has_compare_on_its_first_screen(show: Show, pages: Pages) -> None:
    page = opened(show, width=390, height=844).page
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    page.locator(".wbp").first.scroll_into_view_if_needed()
    pages.picture(page, "panels-390")
    expect(button(page, "Compare")).to_be_in_viewport(ratio=1)
    button(page, "Compare").focus()
    page.keyboard.press("Shift+Tab")
    expect(page.locator(".wbp-top :focus")).to_have_count(1)  # Tab goes down the screen


def test_a_phone_comes_to_an_answer_with_no_error_on_the_console(show: Show, pages: Pages) -> None:
    page = opened(show, 1.0, width=390, height=844).page
    page.evaluate("window.jupyterapp.shell.collapseLeft()")
    knob(page, "intra-op threads").select_option("1")
    button(page, "Compare").click()
    compared(page)
    for name in TABS:
        tab(page, name)
        expect(page.locator(".wbp-progress")).to_have_count(0)
        expect(page.locator(".wbp-error")).to_have_count(0)
    pages.picture(page, "panels-390-answer")
    assert pages.thrown == []


@pytest.mark.parametrize(
    ("kind", "width"),
    [("unknown", 1400), pytest.param("faster", 1400, marks=pytest.mark.release), ("unknown", 1024)],
)
def test_a_further_line_hides_neither_doubts_nor_figures(
    show: Show, pages: Pages, lab: Lab, kind: str, width: int
) -> None:
    doubted = wb.Comparison(replace(record_of(kind), doubts=comparison().doubts))
    file = doubted.save(lab.folder / f"{kind}.ortbench")
    page = show(DOUBTED.format(file=str(file)), width=width, height=900).page
    expect(page.locator(".wbp-answer .v-doubts summary")).to_be_visible()
    pages.picture(page, f"answer-{kind}-{width}")
    assert page.evaluate(HIDDEN) == []
    button(page, "A⁺").click()
    expect(page.locator(".wbp-projector")).to_be_visible()
    assert page.evaluate(HIDDEN) == [], "nor does large type"
