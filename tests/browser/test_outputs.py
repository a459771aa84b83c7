"""Results fit their cells: nothing is cut when run, saved or reloaded, in a narrow and in a wide window."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError

import workbench as wb
from tests.browser.conftest import Show
from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from tests.factories import results as examples
from tests.factories.comparisons import ordinary

pytestmark = [pytest.mark.browser, pytest.mark.slow]

# A table of a lesson may be wider than a narrow window: then it scrolls within its own cell.
CUT = """scrolling => [...document.querySelectorAll('.jp-Cell .jp-OutputArea-output')]
  .filter((output) => output.scrollWidth > output.clientWidth + 1)
  .filter((output) => !(scrolling && output.querySelector('table')
    && ['auto', 'scroll'].includes(getComputedStyle(output).overflowX)))
  .map((output) => `${output.className}: ${output.scrollWidth} > ${output.clientWidth}`)"""
PICTURE = ".jp-OutputArea-output img, .jp-OutputArea-output .main-svg, .jp-OutputArea-output canvas"
PUBLISHED = Path(__file__).parents[2].joinpath("docs", "published")
SHOWN = ".jp-NotebookPanel:not(.lm-mod-hidden)"
# By how much a notebook itself is wider than its place.
BEYOND = """shown => {
  const notebook = document.querySelector(`${shown} .jp-Notebook`);
  return notebook.scrollWidth - notebook.clientWidth;
}"""
# What the cells of the shipped notebooks return, from a saved result and so without a run.
RESULTS = (
    "import workbench as wb\nmodel = wb.load('digits-conv')\nmodel.describe()",
    "model.inputs()",
    "result = wb.open('every.ortbench')\nresult",
    "result.fusions()",
    "result.graph()",
    "result.flame()",
    "result.explanation('A')",
    "result.memory()",
    "result.cold_start()",
    "result.roofline()",
    "result.latency_figure()",
    "result.resources_figure()",
    "result.agreement_figure()",
    "result.to_frame().set_index('label').T",
    "frame = result.explanation('A').to_frame()\nframe.groupby('fate').head(2)",
    "result.explanation('A').passes.to_frame()[['pass', 'level', 'removed', 'added']]",
    "wb.open('levels.ortbench').to_frame()[['level', 'nodes', 'op_types', 'median_s', 'speedup', 'verdict']]",
    "wb.open('threads.ortbench').to_frame()[['threads', 'spinning', 'latency_s', 'cpu_s', 'busy_threads']]",
    "wb.open('load.ortbench').to_frame()[['label', 'callers', 'p50_s', 'throughput_hz']]",
)


def fits(page: Page, name: str = "", *, scrolling: bool = False) -> None:
    """Scroll through the notebook, which draws a cell when it comes into sight, and look for cut outputs."""
    page.locator(SHOWN).locator(PICTURE).first.wait_for()
    for cell in page.locator(f"{SHOWN} .jp-CodeCell").all():
        cell.scroll_into_view_if_needed()
        with suppress(TimeoutError):  # a figure is drawn before it fits its place
            page.wait_for_function(f"scrolling => ({CUT})(scrolling).length === 0", arg=scrolling)
        assert page.evaluate(CUT, scrolling) == [], name


@pytest.mark.parametrize("width", [1000, pytest.param(1440, marks=pytest.mark.release)])
def test_every_result_fits_its_cell_when_run_saved_and_reloaded(
    show: Show, pages: Pages, lab: Lab, width: int
) -> None:
    """Of so many widgets one may not be ready in anywidget's two seconds: it is drawn, and hears no more."""
    pages.provoked.append("[anywidget] Failed to initialize model.")
    wb.Comparison(ordinary(), parts=examples.parts()).save(lab.folder / "every.ortbench")
    for kind, name in (("levels", "levels"), ("thread scaling", "threads"), ("load test", "load")):
        examples.further()[kind].save(lab.folder / f"{name}.ortbench")
    book = show(*RESULTS, width=width)
    fits(book.page)
    book.save()
    book.page.reload()
    fits(book.page)


@pytest.mark.release
@pytest.mark.parametrize("width", [1000, 1440])
def test_shipped_notebooks_fit_as_they_were_saved(pages: Pages, lab: Lab, width: int) -> None:
    paths = sorted(PUBLISHED.glob("**/*.ipynb"))
    lessons = {f"{path.stem}-{width}.ipynb" for path in paths if path.parent != PUBLISHED}
    names = [f"{path.stem}-{width}.ipynb" for path in paths]
    for name, path in zip(names, paths, strict=True):
        lab.folder.joinpath(name).write_text(path.read_text("utf-8"), "utf-8")
    book = open_book(pages.open(width=width), lab, names[0])
    for name in names:
        book.turn(name)
        fits(book.page, name, scrolling=width < 1440 and name in lessons)
        assert book.page.evaluate(BEYOND, SHOWN) <= 1, name
    pages.close()
    lab.stop_kernels()
