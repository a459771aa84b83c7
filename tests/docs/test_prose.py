"""The tutorial and the how-to pages have short sentences and short paragraphs."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import nbformat
import pytest

from tests.docs.prose import paragraphs, sentences, words

ROOT = Path(__file__).parents[2]
TUTORIAL = ("notebooks/00_tour.ipynb", "notebooks/01_your_model.ipynb")
HOW_TO = ("questions", "ci", "deploy", "engines", "tune", "common-issues", "gpu")
PAGES = [
    *TUTORIAL,
    "docs/index.md",
    *(f"docs/{name}.md" for name in HOW_TO),
    *(path.relative_to(ROOT).as_posix() for path in sorted(ROOT.glob("docs/how-to/*.md"))),
]
MEDIAN, LONGEST, PARAGRAPH = 18, 35, 120  # words


def markdown(page: str) -> str:
    if not page.endswith(".ipynb"):
        return (ROOT / page).read_text("utf-8")
    cells = nbformat.read(ROOT / page, as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("page", PAGES)
def test_a_page_reads_well(page: str) -> None:
    text = markdown(page)
    assert sentences(text)
    assert median(map(words, sentences(text))) <= MEDIAN
    assert [sentence for sentence in sentences(text) if words(sentence) > LONGEST] == []


def test_no_sentence_of_another_page_is_long() -> None:
    pages = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))]
    parts = [part for page in pages for part in sentences(page.read_text("utf-8"))]
    assert [part for part in parts if words(part) > LONGEST] == []


def test_no_paragraph_of_any_page_is_long() -> None:
    pages = [*sorted(ROOT.glob("docs/**/*.md")), *map(ROOT.joinpath, TUTORIAL)]
    parts = [part for page in pages for part in paragraphs(markdown(page.relative_to(ROOT).as_posix()))]
    assert [part for part in parts if words(part) > PARAGRAPH] == []


def test_a_how_to_page_is_a_question_with_its_call_and_its_command() -> None:
    for path in sorted(ROOT.glob("docs/how-to/*.md")):
        text = path.read_text("utf-8")
        assert text.splitlines()[0].endswith("?"), path.name
        assert "```python" in text, path.name
        assert "```bash" in text or "no command" in text, path.name


def test_code_tables_headings_and_pictures_are_no_prose() -> None:
    text = "# A title\n\nOne. Two `a b c` words!\n\n```bash\nnot. this\n```\n\n| nor | this. |\n\n![x](y.png)"
    assert sentences(text) == ["One.", "Two Code words!"]


def test_an_item_of_a_list_is_a_paragraph_of_its_own() -> None:
    assert paragraphs("Before:\n\n- one\n  goes on\n- two\n1. three") == [
        "Before:",
        "one goes on",
        "two",
        "three",
    ]


def test_a_link_counts_as_its_words_and_a_number_ends_nothing() -> None:
    (sentence,) = sentences("It takes 1.5 s, see [the long page](a/b.md#c).")
    assert words(sentence) == 8
