"""Every shipped notebook as somebody receives it: run, untrusted, without a kernel, the network cut."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.book import open_book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab, started_lab
from tests.browser.harness.panels import until
from tests.executed import NAMES, Executed, sections

pytestmark = [pytest.mark.browser, pytest.mark.real, pytest.mark.release]

SEEN = """async (output) => {
  for (const element of output.querySelectorAll('img, table, .js-plotly-plot .main-svg')) {
    const isDrawn = element.tagName !== 'IMG' || (await element.decode().then(() => true, () => false));
    const {width, height} = element.getBoundingClientRect();
    if (isDrawn && width > 40 && height > 20) return true;
  }
  return false;
}"""
TRUSTED = """() => window.jupyterapp.shell.currentWidget.content.widgets
  .filter((cell) => cell.model.type === 'code').some((cell) => cell.model.trusted)"""


@pytest.fixture(scope="module")
def bare_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab that can start no kernel at all."""
    config = {"KernelSpecManager": {"allowed_kernelspecs": ["none"]}}
    with started_lab(tmp_path_factory.mktemp("bare"), config=config) as lab:
        assert lab.ask("api/kernelspecs")["kernelspecs"] == {}
        yield lab


@pytest.mark.parametrize("name", NAMES)
def test_a_stranger_sees_a_figure_or_a_table_in_each_section(
    bare_lab: Lab, pages: Pages, executed: Executed, name: str
) -> None:
    book = nbformat.read(executed(name), as_version=4)
    nbformat.write(book, bare_lab.folder / f"shared-{name}")
    page = pages.open(width=1400, height=1600)
    page.route(lambda url: not url.startswith(bare_lab.base), lambda route: route.abort())
    opened = open_book(page, bare_lab, f"shared-{name}")
    assert page.evaluate(TRUSTED) is False
    number = 0
    for title, cells in sections(book).items():
        outputs = [opened.output(number + index) for index in range(len(cells))]
        number += len(cells)
        if any(cell.outputs for cell in cells):
            until(page, partial(shows_any, outputs), title)
    pages.picture(page, f"shared-{name}")


@pytest.mark.parametrize("name", NAMES)
def test_as_html_nothing_is_empty_offline(
    pages: Pages, executed: Executed, tmp_path: Path, name: str
) -> None:
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--output-dir", str(tmp_path)]
    subprocess.run([*command, str(executed(name))], check=True, capture_output=True)
    page = pages.open(width=1200, offline=True)
    page.goto((tmp_path / name).with_suffix(".html").as_uri(), wait_until="domcontentloaded")
    outputs = page.locator(".jp-OutputArea-child")
    expect(outputs.first).to_be_visible()
    for output in outputs.all():
        assert output.inner_text().strip() or shows(output), output.inner_html()[:500]
    pages.asked[:] = [url for url in pages.asked if "://127.0.0.1" in url]  # nbconvert's template asks a CDN


def shows_any(outputs: list[Locator]) -> bool:
    return any(map(shows, outputs))


def shows(output: Locator) -> bool:
    """A picture that was decoded, or a table, of a size to look at."""
    output.scroll_into_view_if_needed()
    shown: bool = output.evaluate(SEEN)
    return shown
