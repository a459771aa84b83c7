"""Slides: one offline page for each lesson, made from the pictures that a run left in its notebook."""

from __future__ import annotations

import base64
import io
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from tests.executed import ROOT
from workbench.apps.cli import main
from workbench.core.errors import ConfigError
from workbench.drawing.page.slides import MOST_SLIDES, slides_of

LESSONS = ROOT / "docs" / "published" / "course"


def png(width: int, height: int) -> str:
    file = io.BytesIO()
    Image.new("1", (width, height), 1).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")


def book(path: Path, *pictures: str, heading: str = "1. A lesson") -> Path:
    outputs = [{"data": {"image/png": picture, "text/plain": "<B is faster; by 2>"}} for picture in pictures]
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "source": [f"# {heading}\n", "\n", "**Why?**"]},
        {"cell_type": "markdown", "source": "## Predict\n\n**How *much*?** See [there](http://there/)."},
        {"cell_type": "code", "source": "", "outputs": outputs},
        {"cell_type": "markdown", "source": "## Remember\n\n1. One\n2. Two\n\nNext: [2](02.ipynb)."},
    ]
    path.write_text(json.dumps({"cells": cells}), "utf-8")
    return path


@pytest.mark.parametrize(
    ("lessons", "count"), [("01*.ipynb", 1), pytest.param("*.ipynb", 10, marks=pytest.mark.slow)]
)
def test_each_lesson_has_a_deck_that_asks_for_nothing(
    lessons: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in LESSONS.glob(lessons):
        shutil.copy(path, tmp_path)
    assert main(["course", "slides", str(tmp_path), "-o", str(tmp_path / "decks")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == count
    for deck in sorted((tmp_path / "decks").glob("*.html")):
        page = deck.read_text("utf-8")
        assert 5 <= page.count("<section") <= MOST_SLIDES
        assert page.count("<img ") >= 3
        assert not re.search(r"(src|href)=\"(?!data:)", page)


def test_a_slide_has_the_question_the_picture_and_what_it_says(tmp_path: Path) -> None:
    title, predict, figure, remember = slides_of(book(tmp_path / "1.ipynb", png(1520, 400)))
    assert "<h1>1. A lesson</h1><p><b>Why?</b></p>" in title
    assert "<b>How <i>much</i>?</b> See there." in predict
    assert 'alt="B is faster; by 2"' in figure
    assert "<p>B is faster</p>" in figure
    assert "<p>1. One</p><p>2. Two</p></section>" in remember


def test_a_tall_picture_continues_on_a_second_slide_while_there_is_room(tmp_path: Path) -> None:
    assert len(slides_of(book(tmp_path / "1.ipynb", png(380, 1000)))) == 5
    many = [png(380, 1000)] * 20
    assert len(slides_of(book(tmp_path / "2.ipynb", *many))) == MOST_SLIDES


def test_a_strangers_notebook_writes_no_markup(tmp_path: Path) -> None:
    path = book(tmp_path / "1.ipynb", png(10, 10), heading="<script>alert(1)</script>")
    assert "<script" not in "".join(slides_of(path))


def damaged() -> str:
    """A picture whose second part has no known kind."""
    file = io.BytesIO()
    Image.effect_noise((300, 400), 100).save(file, "PNG")
    first, part, rest = file.getvalue().partition(b"IDAT")
    begun, second, ended = rest.partition(b"IDAT")
    assert second
    return base64.b64encode(first + part + begun + b"\0\1\2\3" + ended).decode("ascii")


def test_a_picture_of_one_column_is_drawn(tmp_path: Path) -> None:
    assert len(slides_of(book(tmp_path / "1.ipynb", png(1, 50)))) > 3


def test_a_notebook_of_brackets_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "1.ipynb"
    path.write_text("[" * 200_000)
    with pytest.raises(ConfigError, match="no notebook of a lesson"):
        slides_of(path)


def test_slides_need_a_folder_to_be_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    book(tmp_path / "1.ipynb", png(10, 10))
    assert main(["course", "slides", str(tmp_path), "-o", str(tmp_path / "1.ipynb" / "decks")]) == 2
    assert "cannot be made" in capsys.readouterr().err


@pytest.mark.parametrize("picture", ["", "no picture", png(6000, 6000), damaged()])
def test_what_cannot_be_drawn_is_refused(tmp_path: Path, picture: str) -> None:
    with pytest.raises(ConfigError):
        slides_of(book(tmp_path / "1.ipynb", *filter(None, [picture])))
    assert main(["course", "slides", str(tmp_path / "absent")]) == 2
