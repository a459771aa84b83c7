"""The course in the real JupyterLab: from the launcher to a lesson, its guesses and its exercises."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Show
from tests.browser.harness.axe import faults
from tests.browser.harness.book import Book, open_book
from tests.browser.harness.chromium import Pages
from tests.browser.harness.lab import Lab
from workbench.apps.cli.lessons import lesson_of

pytestmark = pytest.mark.browser

OUTPUT = ".jp-OutputArea-output"
GUESS = """
from workbench import course
guess = course.predict("How far apart?", name="browser.noise", unit="%")
guess
"""


@pytest.mark.slow
def test_a_guess_is_kept_by_a_click(show: Show, tmp_path: Path) -> None:
    home = f"import os; os.environ['WORKBENCH_HOME'] = {str(tmp_path)!r}"
    book = show(home, GUESS)
    output = book.page.locator(OUTPUT)
    expect(output.get_by_text("No guess yet.")).to_be_visible()
    output.locator("input[type=number]").fill("4.5")
    output.get_by_role("button", name="Keep my guess").click()
    expect(output.get_by_text("Kept: 4.5 %.")).to_be_visible()
    assert "4.5" in (tmp_path / "data" / "course.json").read_text()


@pytest.mark.slow
def test_the_launcher_leads_to_the_first_lesson(lab: Lab, pages: Pages) -> None:
    book = first_lesson(lab, pages)
    expect(lesson(book.page).locator("h1")).to_contain_text("1. What a number is worth")
    close(lab, pages)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "guess", "unit"),
    [
        pytest.param("1", "3", "%", marks=pytest.mark.release),
        ("7", None, None),
        pytest.param("8", "2", "providers", marks=pytest.mark.release),
    ],
)
def test_a_lesson_reads_well_and_keeps_a_guess(
    lab: Lab, pages: Pages, number: str, guess: str | None, unit: str | None
) -> None:
    book = open_book(pages.open(), lab, lesson_of(number).file)
    expect(lesson(book.page).locator("h1")).to_contain_text(f"{number}. ")
    book.wait_for_kernel()
    for cell in range(2):  # the parameters, the first guess
        run_cell(book, cell)
    output = book.output(1)
    expect(output.get_by_text("No guess yet.")).to_be_visible()
    if guess is not None:
        output.locator("input[type=number]").fill(guess)
    output.get_by_role("button", name="Keep my guess").click()
    expect(output.get_by_text(f"Kept: {guess} {unit}." if guess else "Kept: faster.")).to_be_visible()
    assert faults(book.page, ".jp-NotebookPanel .jp-OutputArea") == []
    notebook = book.page.locator(".jp-NotebookPanel .jp-Notebook")
    width, content = notebook.evaluate("one => [one.clientWidth, one.scrollWidth]")
    assert content <= width, "the lesson is wider than its panel"
    pages.picture(book.page, f"lesson-{number}")
    close(lab, pages)


def test_the_launcher_opens_the_panels_without_code(lab: Lab, pages: Pages) -> None:
    page = pages.open(width=1440, height=900)
    page.goto(lab.url(f"lab/workspaces/{uuid4().hex}"))
    page.locator(".jp-LauncherCard", has_text="Workbench").filter(has_not_text="Course").click()
    expect(page.get_by_role("button", name="Compare").and_(page.locator(".wbp-compare"))).to_be_in_viewport()
    expect(page.locator(".jp-NotebookPanel .cm-content")).not_to_be_visible()
    expect(page.locator(".jp-NotebookPanel-toolbar")).not_to_be_visible()
    assert [url for url in pages.asked if "/api/build" in url] == [], "it takes seconds of the server"
    pages.close()
    lab.stop_kernels()


# The page of a plain `jupyter lab` names no cards; our extension is there wherever the package is installed.
WITHOUT_CARDS = """const parse = JSON.parse;
JSON.parse = (...given) => {
  const made = parse(...given);
  if (made) delete made.workbenchCards;
  return made;
};"""


def test_a_plain_jupyterlab_has_the_card_of_the_panels(lab: Lab, pages: Pages) -> None:
    page = pages.open(width=1440, height=900)
    page.add_init_script(WITHOUT_CARDS)
    page.goto(lab.url(f"lab/workspaces/{uuid4().hex}"))
    card = page.locator(".jp-LauncherCard", has_text="Workbench")
    expect(card).to_be_visible()
    expect(page.locator(".jp-LauncherCard", has_text="Course")).to_have_count(0)
    card.click()
    expect(page.get_by_role("button", name="Compare").and_(page.locator(".wbp-compare"))).to_be_in_viewport()
    expect(page.locator(".jp-NotebookPanel .cm-content")).not_to_be_visible()
    pages.picture(page, "plain-lab")
    close(lab, pages)


@pytest.mark.slow
def test_the_card_of_the_panels_hides_nothing_of_another_notebook(lab: Lab, pages: Pages) -> None:
    ours = lab.folder / "workbench.ipynb"
    before = ours.read_bytes() if ours.exists() else None
    lab.write("workbench.ipynb", "'mine'")
    page = pages.open(lab.url(f"lab/workspaces/{uuid4().hex}"))
    page.locator(".jp-LauncherCard", has_text="Workbench").filter(has_not_text="Course").click()
    expect(page.locator(".jp-NotebookPanel .cm-content")).to_contain_text("'mine'")
    expect(page.locator(".jp-NotebookPanel-toolbar")).to_be_visible()
    close(lab, pages)
    ours.unlink()
    if before is not None:
        ours.write_bytes(before)


@pytest.mark.release
def test_the_launcher_leads_to_the_last_check_of_lesson_1(lab: Lab, pages: Pages) -> None:
    book = first_lesson(lab, pages)
    cells = [cell for cell in lab.read(book.name).cells if cell.cell_type == "code"]
    index = {cell.id: number for number, cell in enumerate(cells)}
    for name in ("parameters", "verdict", "a-data"):
        run_cell(book, index[name])
    for exercise in ("a", "b", "c"):
        run_cell(book, index[exercise])
        expect(book.output(index[exercise])).to_contain_text("No answer yet.")
        run_cell(book, index[f"{exercise}-solution"])
        expect(book.output(index[f"{exercise}-solution"])).to_contain_text("Passed.")
    close(lab, pages)


def first_lesson(lab: Lab, pages: Pages) -> Book:
    """Go from the launcher over the list of the course to lesson 1, the only open notebook."""
    page = pages.open()
    page.goto(lab.url(f"lab/workspaces/{uuid4().hex}"))  # of an empty workspace: only the launcher is open
    page.locator(".jp-LauncherCard", has_text="Course").click()
    contents = page.locator(".jp-MarkdownViewer")
    expect(contents.locator("h1")).to_contain_text("The course")
    pages.picture(page, "course")
    contents.get_by_role("link", name="What a number is worth").click()
    expect(lesson(page).locator("h1")).to_be_visible()
    book = Book(page, lab, lesson_of("1").file)
    book.wait_for_kernel()
    return book


def close(lab: Lab, pages: Pages) -> None:
    """Close the page before its kernel ends: no page shall tell of a lost one."""
    pages.close()
    lab.stop_kernels()


def lesson(page: Page) -> Locator:
    return page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")


def run_cell(book: Book, number: int) -> None:
    """Run one code cell, as Shift+Enter does, and wait for its number."""
    cell = book.cell(number)
    cell.scroll_into_view_if_needed()
    cell.locator(".jp-InputPrompt").click()
    book.command("notebook:run-cell")
    expect(cell.locator(".jp-InputPrompt")).to_contain_text("[")
    book.wait_for_kernel()
