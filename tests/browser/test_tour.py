"""`workbench lab` as a person meets it: the tour is open, and the workbench in it, with nothing pressed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.harness.book import Book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab, started_lab
from workbench.apps.cli.lab import TOUR, tour

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PANELS = ".jp-Cell-outputArea .wbp"


def first_page(pages: Pages, lab: Lab) -> Book:
    """The address that the command prints, and nothing else done."""
    page = pages.open(lab.url(f"lab/tree/{TOUR}"))
    expect(page.locator(".jp-NotebookPanel .jp-MarkdownOutput h1").first).to_contain_text("Ten minutes")
    return Book(page, lab, TOUR)


def test_the_workbench_is_open_and_stays_open_after_a_reload(lab: Lab, pages: Pages) -> None:
    book = first_page(pages, lab)
    expect(book.page.locator(PANELS)).to_contain_text("bert-base")
    pages.picture(book.page, "tour")
    book.wait_for_kernel()
    (kernel,) = lab.ask("api/kernels")

    book.save()
    book.page.reload()
    expect(book.page.locator(PANELS)).to_contain_text("bert-base")
    counts = [cell.execution_count for cell in lab.read(TOUR).cells if cell.cell_type == "code"]
    assert [count for count in counts if count] == [1], "the cell ran once"
    assert [running["id"] for running in lab.ask("api/kernels")] == [kernel["id"]]
    lab.stop_kernels()


def test_a_cell_of_anybody_else_is_not_run(tmp_path: Path, pages: Pages) -> None:
    with started_lab(tmp_path) as lab:
        pages.origins.append(lab.base)
        book = lab.read(TOUR)
        cell = next(cell for cell in book.cells if cell.cell_type == "code")
        cell.source = "open('ran', 'w')\n" + tour()["source"]
        (lab.folder / TOUR).write_text(json.dumps(book))
        page = pages.open(lab.url(f"lab/tree/{TOUR}"))
        opened = Book(page, lab, TOUR)
        opened.wait_for_kernel()
        page.evaluate("() => window.jupyterapp.restored")
        opened.command("notebook:enter-command-mode")  # whatever was to be run is queued by now
        assert lab.read(TOUR).cells
        assert not (lab.folder / "ran").exists()
        lab.stop_kernels()
