"""Titles of figures: one line where there is room, HTML that wraps elsewhere, and never markup."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go

from tests.factories.comparisons import ordinary
from workbench.drawing.latency import latency_figure
from workbench.drawing.page.caption import caption_html
from workbench.drawing.page.pieces import plot
from workbench.drawing.template import set_title
from workbench.drawing.titles import BARE_MARGIN, MOST_REST, Title, take_title, title_of

PLOT_PIXELS = 200


def titled(*sentences: str, note: str = "") -> go.Figure:
    return set_title(go.Figure(), sentences, note, PLOT_PIXELS)


def content(figure: go.Figure) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(figure.to_json())
    return parsed


def test_a_verdict_and_what_follows_take_a_line_each() -> None:
    figure = titled("B is 1.83× faster (95 % CI 1.79 to 1.88); outputs agree (SQNR 92 dB); the same memory")
    assert figure.layout.title.text.count("<br>") == 1
    assert figure.layout.title.text.startswith("<b>B is 1.83× faster (95 % CI 1.79 to 1.88)</b><br>")


def test_a_longer_title_is_broken() -> None:
    assert titled("word " * 60).layout.title.text.count("<br>") >= 2


def test_one_line_of_title_one_below_and_the_rest_behind_the_i() -> None:
    figure = titled("head; rest", "second; of it", note="a note")
    assert figure.layout.title.text.count("<br>") == 1
    (mark,) = figure.layout.annotations
    assert mark.hovertext == "second; of it<br>a note"


def test_a_long_second_line_is_cut_between_two_clauses() -> None:
    title = title_of(["head; " + "; ".join(["a clause of some words"] * 9)], "")
    assert len(title.rest) <= MOST_REST
    assert "; ".join([title.rest, *title.more]).count("a clause of some words") == 9


def test_a_title_that_is_taken_leaves_the_plot_as_it_was() -> None:
    figure = content(titled("head; rest", "second", note="a note"))
    assert take_title(figure) == Title("head", "rest", ("second", "a note"))
    assert not {"title", "meta"} & figure["layout"].keys()
    assert figure["layout"]["annotations"] == []
    assert figure["layout"]["margin"]["t"] == BARE_MARGIN
    assert figure["layout"]["height"] == PLOT_PIXELS + BARE_MARGIN


def test_a_page_has_as_much_behind_the_i_as_a_notebook() -> None:
    note = "what a reader may ask; " * 20
    figure = titled("head", note=note)
    (mark,) = figure.layout.annotations
    assert mark.hovertext.replace("<br>", " ") == note.strip()
    assert take_title(content(figure)).more == (note.strip(),)


def test_a_figure_without_a_title_stays() -> None:
    figure = content(go.Figure())
    before = json.dumps(figure)
    assert take_title(figure).is_empty
    assert json.dumps(figure) == before


def test_names_of_strangers_are_texts() -> None:
    hostile = "<img src=x onerror=alert(1)> $x$ %{y}"
    figure = titled(hostile, hostile, note=hostile)
    (mark,) = figure.layout.annotations
    caption = plot(figure, "label").split("<figcaption>")[1].split("</figcaption>")[0]
    for shown in (figure.layout.title.text, mark.hovertext, caption):
        assert "&lt;img" in shown
        assert "<img" not in shown
    assert "<img" not in plot(figure, "label")
    assert take_title(content(figure)) == Title(hostile, "", (hostile, hostile))


def test_an_exported_page_has_the_title_as_html() -> None:
    html = plot(latency_figure(ordinary()), "Latency")
    caption = html.split("<figcaption>")[1].split("</figcaption>")[0]
    assert caption.startswith('<div class="c-title"><b>B is 1.83× faster (95 % CI 1.79 to 1.88)</b>')
    assert html.count("1.83×") == 1


def test_a_title_begins_with_a_capital_and_a_name_stays_as_it_is() -> None:
    assert "<b>Memory over a run</b>" in caption_html(Title("memory over a run", "", ()))
    assert "<b>digits-conv: 3 points</b>" in caption_html(Title("digits-conv: 3 points", "", ()))
