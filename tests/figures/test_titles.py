"""Titles of figures: one line where there is room, HTML that wraps elsewhere, and never markup."""

from __future__ import annotations

import json
from typing import Any

import plotly.graph_objects as go

from tests.factories.comparisons import ordinary
from workbench.figures.latency import latency_figure
from workbench.figures.template import set_title
from workbench.figures.titles import TITLE_MARGIN, take_title
from workbench.report.pieces import plot

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


def test_a_title_that_is_taken_leaves_the_plot_as_it_was() -> None:
    figure = content(titled("head; rest", "second", note="a note"))
    assert [tuple(line) for line in take_title(figure)] == [
        ("head", True),
        ("rest", False),
        ("second", True),
        ("a note", False),
    ]
    assert not {"title", "meta"} & figure["layout"].keys()
    assert figure["layout"]["margin"]["t"] == TITLE_MARGIN
    assert figure["layout"]["height"] == PLOT_PIXELS + TITLE_MARGIN


def test_a_figure_without_a_title_stays() -> None:
    figure = content(go.Figure())
    before = json.dumps(figure)
    assert take_title(figure) == []
    assert json.dumps(figure) == before


def test_names_of_strangers_are_texts() -> None:
    hostile = "<img src=x onerror=alert(1)> $x$ %{y}"
    assert hostile not in titled(hostile).to_json()
    assert take_title(content(titled(hostile))) == [(hostile, True)]
    assert "<img" not in plot(titled(hostile), "label")


def test_an_exported_page_has_the_title_as_html() -> None:
    html = plot(latency_figure(ordinary()), "Latency")
    caption = html.split("<figcaption>")[1].split("</figcaption>")[0]
    assert caption.startswith("<b>B is 1.83× faster (95 % CI 1.79 to 1.88)</b>")
    assert html.count("1.83×") == 1
