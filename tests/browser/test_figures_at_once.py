"""A result is a live figure as soon as its notebook is open, at its final height, without the mouse."""

from __future__ import annotations

import base64
from io import BytesIO

import pytest
from PIL import Image
from playwright.sync_api import expect

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.factories.comparisons import ordinary

pytestmark = pytest.mark.browser

HEIGHTS = """() => {
  window.heights = new Set();
  const look = () => {
    const output = document.querySelector('.jp-OutputArea-output.jp-RenderedPlotly');
    if (output) window.heights.add(Math.round(output.getBoundingClientRect().height));
    requestAnimationFrame(look);
  };
  look();
}"""


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.release)])
def test_an_executed_notebook_opens_with_its_live_figure(
    show: Show, lab: Lab, pages: Pages, theme: str
) -> None:
    result = wb.Comparison(ordinary())
    result.save(lab.folder / "once.ortbench")
    book = show("import workbench as wb\nwb.open('once.ortbench')", theme=theme)
    expect(book.page.locator(".jp-RenderedPlotly .main-svg").first).to_be_visible()
    book.save()
    cell = next(cell for cell in lab.read(book.name).cells if cell.outputs)
    picture = base64.b64decode(cell.outputs[0].data["image/png"])
    assert picture == result.still().to_png(), "the picture for other readers is kept"

    page = pages.open(theme="dark" if theme == "dark" else "light")
    page.add_init_script(f"({HEIGHTS})()")
    again = open_book(page, lab, book.name)
    expect(page.locator(".jp-RenderedPlotly .main-svg").first).to_be_visible()
    expect(page.locator(".jp-RenderedPlotly .plot-img")).not_to_be_visible()
    pages.picture(page, f"figure-at-once-{theme}")
    (height,) = page.evaluate("() => [...window.heights]")
    assert height == result.figure().layout.height, "the output never has another height"
    still = Image.open(BytesIO(picture))
    assert abs(still.height / 2 - height) < 0.15 * height, "the still picture is about as high"
    again.wait_for_kernel()
    assert not page.evaluate("() => window.jupyterapp.shell.currentWidget.context.model.dirty")
