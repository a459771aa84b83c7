"""The published notebooks: in step with the shipped ones, and readable on a code host without a kernel."""

from __future__ import annotations

import json

import nbformat
import pytest

from docs.publish import LONGEST_ALT, MOST_BYTES, alternative_text, published_names
from tests.executed import ROOT, pictures, sections
from workbench.apps.cli.notebooks import shipped_folder

PUBLISHED = ROOT / "docs" / "published"


@pytest.fixture(params=published_names())
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_is_what_is_shipped(name: str) -> None:
    shipped = nbformat.read(shipped_folder() / name, as_version=4)
    published = nbformat.read(PUBLISHED / name, as_version=4)
    again = f"publish it again: python -m docs.publish {name}"
    assert [cell.source for cell in published.cells] == [cell.source for cell in shipped.cells], again
    code = [cell for cell in published.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert not [out for cell in code for out in cell.outputs if out.output_type == "error"]


def test_each_section_shows_a_figure_or_a_table_on_a_code_host(name: str) -> None:
    assert (PUBLISHED / name).stat().st_size < MOST_BYTES
    book = nbformat.read(PUBLISHED / name, as_version=4)
    assert pictures(book) >= 3
    for title, cells in sections(book).items():
        kinds = {kind for cell in cells for out in cell.outputs for kind in out.get("data", {})}
        if any(cell.outputs for cell in cells):
            assert kinds & {"image/png", "text/html"}, f"{title}: {kinds}"


def test_each_picture_has_an_alternative_text(name: str) -> None:
    for cell in nbformat.read(PUBLISHED / name, as_version=4).cells:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                assert len(output.metadata["image/png"]["alt"]) > 20


def test_nothing_of_a_machine_is_published(name: str) -> None:
    text = json.dumps(json.loads((PUBLISHED / name).read_text(encoding="utf-8")))
    for part in ("/home/", "/root/", "/tmp/", "site-packages", "widget-view"):
        assert part not in text


def test_an_alternative_text_is_whole_sentences_in_one_short_line() -> None:
    assert alternative_text("<Comparison: B is faster\n  doubt>") == "Comparison: B is faster. doubt."
    assert alternative_text("A: 1 ms\n- slower.\n") == "A: 1 ms. slower."
    assert alternative_text("A: 1 ms\n" + "x" * LONGEST_ALT) == "A: 1 ms."
    assert alternative_text("") == ""
    assert len(alternative_text("x" * 1000)) == LONGEST_ALT
