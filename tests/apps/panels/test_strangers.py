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
from tests.apps.panels.conftest import settle
from tests.features.base.strangers import FOR_PLOTLY, GOLDEN, Taken, poisoned, texts_of
from workbench.apps.panels.tabs.tab import BOTH
from workbench.core.bundle.display import csv_of
from workbench.drawing.canvas.base import View
from workbench.drawing.cell import PLOTLY
from workbench.features.base.registry import KINDS


def within(widget: W.Widget) -> Iterator[W.Widget]:
    """The widget and all below it."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from within(child)


def looked_at(bench: Any) -> Iterator[tuple[str, W.Widget]]:
    """All that the panels hold, tab by tab and card by card, as figure and as table."""
    results = bench.panels.results
    for turned in results.places:
        results.turn(turned)
        page = results.pages[turned]
        settle(bench)
        for title, card in list(getattr(page, "cards", {}).items()):
            page.choose(card.card.title)
            if BOTH in page.side.options:
                page.side.value = BOTH
            settle(bench)
            yield from ((title, widget) for widget in within(card.widget))
            if not card.as_table and card.card.table is not None:
                card.turn.click()
                settle(bench)
                yield from ((title, widget) for widget in within(card.widget))
    yield from (("panels", widget) for widget in within(bench.panels.root))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["comparison", "examined"])
def test_no_text_is_taken_for_markup(name: str) -> None:
    (path,) = (path for path in GOLDEN if path.stem.rpartition("-")[0] == name)
    bundle, _ = poisoned(path)
    bench = wb.Workbench()
    bench.show(KINDS.result(bundle))
    settle(bench)
    attempts = 0
    for title, widget in looked_at(bench):
        assert not isinstance(widget, W.HTMLMath), "typesets texts of strangers"
        if isinstance(widget, W.HTML):
            attempts += "onerror=window.hacked" in widget.value
            assert Taken(widget.value).found == [], title
        elif isinstance(widget, W.Output):
            data = [output["data"] for output in widget.outputs]
            assert all(set(bundle) <= {PLOTLY, "text/plain", "image/png"} for bundle in data)
            texts = [text for bundle in data for text in texts_of(bundle.get(PLOTLY))]
            attempts += any("onerror=window.hacked" in text for text in texts)
            assert [mark for text in texts for mark in FOR_PLOTLY if mark in text] == [], title
        elif not isinstance(widget, View):
            assert not getattr(widget, "description_allow_html", False), title
    assert attempts > 0, "the attempts are on the screen"
    assert bench.state.bug == ""


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r=", "\n="])
def test_a_spreadsheet_computes_no_name(start: str) -> None:
    text = csv_of(pd.DataFrame({"node": [f"{start}HYPERLINK(1)", "a=b", "say \"hi\", 'x'"], "n": [-1, 2, 3]}))
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[1:] == [[f"'{start}HYPERLINK(1)", "-1"], ["a=b", "2"], ["say \"hi\", 'x'", "3"]]


def test_numbers_and_what_is_absent_stay_as_they_are_in_a_spreadsheet() -> None:
    frame = pd.DataFrame({"a": [-0.5, None], "b": pd.array([1, None], dtype="Int64"), "c": [True, False]})
    assert csv_of(frame) == frame.to_csv(index=False, lineterminator="\r\n")
    assert csv_of(frame.head(0)) == frame.head(0).to_csv(index=False, lineterminator="\r\n")


def test_no_name_of_a_model_moves_the_cursor() -> None:
    bench = wb.Workbench("no\x1b[31msuch.onnx")
    assert str(bench).isprintable()
