"""A stranger's result in the panels: every tab, every figure and table, with names that are attempts."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import ipywidgets as W
import pandas as pd
import pytest

import workbench as wb
from tests.results.strangers import FOR_PLOTLY, GOLDEN, Taken, poisoned, texts_of
from workbench.panels.tabs.csv import csv_of
from workbench.panels.tabs.figure import PLOTLY
from workbench.results.registry import KINDS
from workbench.views.base import View


def within(widget: W.Widget) -> Iterator[W.Widget]:
    """The widget and all below it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from within(child)


def settle(bench: wb.Workbench) -> None:
    bench.drawer.settle()
    bench.painter.settle()


def looked_at(bench: Any) -> Iterator[tuple[str, W.Widget]]:
    """All that the panels hold, tab by tab and piece by piece, as figure and as table."""
    results = bench.panels.results
    for place, page in enumerate(results.pages):
        results.tabs.selected_index = place
        settle(bench)
        for title, box in list(getattr(page, "boxes", {}).items()):
            page.which.value = title
            settle(bench)
            yield from ((title, one) for one in within(box.widget))
            if not box.as_table and box.piece.table is not None:
                box.twin.click()
                settle(bench)
                yield from ((title, one) for one in within(box.widget))
    yield from (("panels", one) for one in within(bench.panels.root))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["comparison-2", "examined-2"])
def test_no_text_is_taken_for_markup(name: str) -> None:
    (path,) = (each for each in GOLDEN if each.stem == name)
    bundle, _ = poisoned(path)
    bench = wb.Workbench()
    bench.show(KINDS.result(bundle))
    settle(bench)
    seen = 0
    for title, one in looked_at(bench):
        assert not isinstance(one, W.HTMLMath), "typesets what strangers write"
        if isinstance(one, W.HTML):
            seen += "onerror=window.hacked" in one.value
            assert Taken(one.value).found == [], title
        elif isinstance(one, W.Output):
            assert all(set(each["data"]) <= {PLOTLY, "text/plain", "image/png"} for each in one.outputs)
            told = [text for each in one.outputs for text in texts_of(each["data"].get(PLOTLY))]
            seen += any("onerror=window.hacked" in text for text in told)
            assert [mark for text in told for mark in FOR_PLOTLY if mark in text] == [], title
        elif not isinstance(one, View):
            assert not getattr(one, "description_allow_html", False), title
    assert seen > 0, "the attempts are there to be seen"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n="])
def test_a_spreadsheet_computes_no_name(start: str) -> None:
    told = csv_of(pd.DataFrame({"node": [f"{start}HYPERLINK(1)", "a=b", "say \"hi\", 'x'"], "n": [-1, 2, 3]}))
    rows = list(csv.reader(io.StringIO(told, newline="")))
    assert rows[1:] == [[f"'{start}HYPERLINK(1)", "-1"], ["a=b", "2"], ["say \"hi\", 'x'", "3"]]


def test_numbers_and_what_is_absent_stay_as_they_are_in_a_spreadsheet() -> None:
    frame = pd.DataFrame({"a": [-0.5, None], "b": pd.array([1, None], dtype="Int64"), "c": [True, False]})
    assert csv_of(frame) == frame.to_csv(index=False, lineterminator="\r\n")
    assert csv_of(frame.head(0)) == frame.head(0).to_csv(index=False, lineterminator="\r\n")
