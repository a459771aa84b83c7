"""Fixtures of the browser tests. One JupyterLab and one Chromium serve the whole folder.

    def test_my_panel(show, pages):
        book = show("import workbench as wb", "wb.Workbench()")     # a notebook of these cells, run
        expect(book.output(1)).to_contain_text("Compare")           # …and a condition to wait for
        pages.picture(book.page, "my-panel")                        # kept below $WORKBENCH_SCREENSHOTS
        assert faults(book.page, ".jp-OutputArea") == []            # axe: tests.browser.harness.axe

After every test: no request may have left the server's own origin, no page may have thrown an error or
written one to its console, and its kernels are stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Protocol
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.harness.book import Book, open_book
from tests.browser.harness.chromium import Pages, interrupted, screenshot_folder, started_browser
from tests.browser.harness.lab import Lab, started_lab
from workbench.apps.panels.layout import STYLE


class Show(Protocol):
    def __call__(
        self, *cells: str, width: int = 1400, height: int = 1000, theme: str = "light", run: bool = True
    ) -> Book: ...


def pytest_keyboard_interrupt() -> None:
    """Close no page after Ctrl-C: a second error would hide the first."""
    interrupted.set()


# Not of the session: an open Playwright keeps an event loop running in this thread, which others' tests need.
@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with started_browser() as opened:
        yield opened


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab that `workbench lab` started; shared, so write notebooks with names of your own."""
    with started_lab(tmp_path_factory.mktemp("lab")) as started:
        yield started


@pytest.fixture
def pages(browser: Browser, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Pages]:
    """Opens pages (`pages.open(url, width=360, theme="dark")`); checks afterwards what they asked for."""
    opened = Pages(browser, screenshot_folder(tmp_path))
    yield opened
    opened.close()
    if interrupted.is_set():
        return
    labs = [value.base for name in request.fixturenames if isinstance(value := _value(request, name), Lab)]
    assert opened.strangers(*labs) == [], "a request left the server's own origin"
    assert opened.thrown == [], "a page threw an error, or wrote one to its console"


def _value(request: pytest.FixtureRequest, name: str) -> object:
    return request.node.funcargs.get(name)


@pytest.fixture
def page(pages: Pages) -> Page:
    """One page, light, 1400 × 1000."""
    return pages.open()


@pytest.fixture(scope="module")
def widget_page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page with the JavaScript of one widget of the panels, which the module of the test names: WIDGET."""
    name: str = request.module.WIDGET
    script = files("workbench.apps.panels").joinpath("static", f"{name}.js").read_text("utf-8")
    script = script.replace("export default { render };", f"window.render{name.title()} = render;")
    page = browser.new_page()
    page.set_content(f'<!DOCTYPE html><meta charset="utf-8">{STYLE}<div class="wbp"></div>')
    page.add_script_tag(content=f"(() => {{{script}}})();")
    yield page
    page.close()


@pytest.fixture
def show(lab: Lab, pages: Pages) -> Iterator[Show]:
    """Writes a notebook of these cells, opens it in JupyterLab and runs it."""

    def shown(
        *cells: str, width: int = 1400, height: int = 1000, theme: str = "light", run: bool = True
    ) -> Book:
        page = pages.open(width=width, height=height, theme="dark" if theme == "dark" else "light")
        book = open_book(page, lab, lab.write(f"{uuid4().hex[:8]}.ipynb", *cells))
        if run:
            book.run_all()
        return book

    yield shown
    pages.close()  # before its kernels end: no page shall tell of a lost one
    lab.stop_kernels()
