"""The words of the panels: those of the field, in the sources of everything that stands on a screen."""

from __future__ import annotations

from dataclasses import replace
from html import escape
from importlib.resources import files

import pandas as pd
import pytest

import workbench as wb
from tests.factories import results as examples
from workbench.apps.panels.table import TableWidget, head_of
from workbench.core.glossary import meaning
from workbench.drawing.page.pieces import table
from workbench.features.grid.record import GridAxis, Place
from workbench.features.grid.sweep import SweepRecord

AVOIDED = ("set aside", "beside nothing", "share as…", "1 rounds", "may lose")
ENDS = (".py", ".js", ".html")


@pytest.mark.parametrize("words", AVOIDED)
def test_no_source_of_a_screen_has_words_that_nobody_knows(words: str) -> None:
    """A name with underscores stands on the screen, too: as the head of a column."""
    sources = [path for path in walked(files("workbench")) if path.name.endswith(ENDS)]
    assert len(sources) > 100
    found = [str(path) for path in sources if words in as_on_a_screen(path.read_text("utf-8"))]
    assert found == []


def test_a_name_in_a_source_is_read_as_the_head_of_a_column() -> None:
    assert head_of("samples_set_aside")[0] == "samples set aside"
    assert "samples set aside" in as_on_a_screen('{"samples_set_aside": 2}')
    assert "set aside" in as_on_a_screen("def Set_Aside(): ...")


def test_the_head_of_a_column_says_what_its_word_means() -> None:
    frame = pd.DataFrame({"node": ["x"], "p99_ms": [1.5], "self_s": [0.1], "<b>p99": [1]})
    columns = TableWidget.of_frame(frame, "a table").columns
    assert [column["help"] for column in columns] == ["", meaning("p99"), meaning("self time"), ""]
    listed = TableWidget.of_rows(("when", "verdict"), [("now", "tie")], "a list").columns
    assert [column["help"] for column in listed] == ["", meaning("verdict")]


def test_a_name_that_a_model_gave_is_not_explained_and_has_no_unit() -> None:
    sizes = tuple((name, 8) for name in ("level", "window_s"))
    axes = tuple(GridAxis(name, "size", (str(size),)) for name, size in sizes)
    place = Place("m", None, sizes, None, "it failed")
    record = SweepRecord(axes, (wb.Config(),), examples.sweep().series[:1], (place,))
    frame = record.to_frame()
    columns = {column["name"]: column for column in TableWidget.of_frame(frame, "a sweep").columns}
    assert columns["level"]["help"] == ""
    assert columns["peak rss (MiB)"]["name"] in columns, "the other columns have their units"
    row = TableWidget.of_frame(frame, "a sweep").rows[0]
    assert row[:2] == [8, 8], "a size is no time"
    assert "window_s" in columns
    knob = replace(record, axes=(GridAxis("level", "knob", ("all",)), axes[1]))
    named = TableWidget.of_frame(knob.to_frame(), "a sweep").columns
    assert next(column for column in named if column["name"] == "level")["help"] == meaning(
        "optimization level"
    )
    assert '<th scope="col" class="number">level</th>' in table(frame, "a sweep")
    assert f'title="{escape(meaning("optimization level"))}">level</th>' in table(knob.to_frame(), "a sweep")


def as_on_a_screen(source: str) -> str:
    return source.lower().replace("_", " ")


def walked(folder):  # type: ignore[no-untyped-def]
    """Yield all files below a folder."""
    for path in folder.iterdir():
        yield from walked(path) if path.is_dir() else [path]
