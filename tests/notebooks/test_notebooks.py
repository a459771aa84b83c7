"""Every shipped notebook runs from top to bottom, and what it shows survives being shared."""

from __future__ import annotations

import base64
import re
from pathlib import Path

import nbformat
import pytest
from nbconvert import HTMLExporter

from docs.publish import MOST_BYTES, strip
from tests.executed import LESSONS, NAMES, PACKS, TEMPLATE, Executed, pictures, sections

pytestmark = [pytest.mark.real, pytest.mark.slow]

MOST_NOTEBOOK_BYTES = 5_000_000
MOST_HTML_BYTES = 10_000_000
PNG_START = b"\x89PNG\r\n"


@pytest.fixture(params=[*NAMES, *LESSONS, *PACKS])
def path(request: pytest.FixtureRequest, executed: Executed) -> Path:
    return executed(request.param)


def test_it_runs_and_stays_small(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    assert not [out for cell in cells for out in cell.outputs if out.output_type == "error"]
    assert path.stat().st_size < MOST_NOTEBOOK_BYTES


def test_each_section_shows_a_figure_or_a_table_without_a_kernel(path: Path) -> None:
    for title, cells in sections(nbformat.read(path, as_version=4)).items():
        kinds = {kind for cell in cells for out in cell.outputs for kind in out.get("data", {})}
        if any(out for cell in cells for out in cell.outputs):
            assert kinds & {"image/png", "text/html"}, f"{title}: {kinds}"


def test_a_picture_has_its_sentence_and_no_html_that_would_hide_it(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    shown = [out.data for cell in book.cells for out in cell.get("outputs", []) if "data" in out]
    pictures = [data for data in shown if "image/png" in data]
    assert len(pictures) >= 3
    for data in pictures:
        assert base64.b64decode(data["image/png"]).startswith(PNG_START)
        assert len(data["text/plain"].strip()) > 20, "a picture without its sentence of numbers"
        assert "text/html" not in data
    for data in shown:
        assert "application/vnd.plotly.v1+json" not in data or "image/png" in data, "drawn by a page only"


def test_as_html_it_needs_no_network_and_no_output_is_empty(path: Path) -> None:
    page, _ = HTMLExporter().from_filename(str(path))
    assert len(page) < MOST_HTML_BYTES
    areas = re.findall(
        r'<div class="jp-OutputArea-child.*?(?=<div class="jp-OutputArea-child|\Z)', page, re.S
    )
    assert areas
    for area in areas:
        text = re.sub(r"<(script|style).*?</\1>", "", area, flags=re.S)
        assert re.search(r"<img |<table|<svg", text) or re.sub(r"<[^>]+>|\s", "", text), area[:500]


def test_published_it_is_small_and_shows_the_same(path: Path) -> None:
    book = nbformat.read(path, as_version=4)
    before = pictures(book)
    made = nbformat.writes(strip(book))
    assert len(made) < MOST_BYTES
    assert pictures(nbformat.reads(made, as_version=4)) == before
    assert "widget-view" not in made
    nbformat.validate(nbformat.reads(made, as_version=4))


@pytest.mark.parametrize("name", [*LESSONS, TEMPLATE])
def test_the_solutions_of_a_lesson_pass_its_checks(name: str, executed: Executed) -> None:
    book = nbformat.read(executed(name), as_version=4)
    solutions = [cell for cell in book.cells if "solution" in cell.metadata.get("tags", ())]
    assert solutions
    for cell in solutions:
        (shown,) = (out.data["text/plain"] for out in cell.outputs if "data" in out)
        assert shown.startswith("Passed."), shown


@pytest.mark.parametrize("name", LESSONS)
def test_an_exercise_of_a_lesson_waits_for_its_answer(name: str, executed: Executed) -> None:
    book = nbformat.read(executed(name), as_version=4)
    exercises = [cell for cell in book.cells if "exercise" in cell.metadata.get("tags", ())]
    assert len(exercises) == 3
    for cell in exercises:
        assert cell.source.startswith("answer = None")
        assert cell.outputs[-1].data["text/plain"].startswith("No answer yet.")
