"""Laws of the layout, which is JavaScript: no box over another, arrows down, every line between its ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from workbench.views.base import javascript

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZES = st.integers(20, 200)
FEW = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def layout(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f"<script>{javascript('common')}\n{javascript('graph')}</script>")
    yield page
    page.close()


@st.composite
def boxes(draw: st.DrawFn) -> dict[str, Any]:
    """Up to 60 boxes with any edges between them, circles among them."""
    count = draw(st.integers(1, 60))
    number = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(number, number), max_size=150, unique=True))
    return {
        "sizes": [{"w": draw(SIZES), "h": draw(SIZES)} for _ in range(count)],
        "edges": [{"from": a, "to": b, "tensors": 1} for a, b in pairs if a != b],
        "enters": draw(st.lists(number, max_size=5, unique=True)),
        "leaves": draw(st.lists(number, max_size=5, unique=True)),
        "aspect": draw(st.floats(0.5, 2.4)),
        "tallest": draw(st.sampled_from([420, 900, 100_000])),
    }


def laid(page: Page, asked: dict[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = page.evaluate(
        "(a) => layered(a.sizes, a.edges, a.enters, a.leaves, a.aspect, a.tallest)", asked
    )
    return made


@FEW
@given(boxes())
def test_no_box_lies_over_another_and_none_leaves_its_parent(layout: Page, asked: dict[str, Any]) -> None:
    made = laid(layout, asked)
    rects = [
        (at["x"], at["y"], at["x"] + size["w"], at["y"] + size["h"])
        for at, size in zip(made["at"], asked["sizes"], strict=True)
    ]
    for index, (left, top, right, bottom) in enumerate(rects):
        assert left >= -0.01
        assert top >= -0.01
        assert right <= made["w"] + 0.01
        assert bottom <= made["h"] + 0.01
        for x0, y0, x1, y1 in rects[:index]:
            assert right <= x0 + 0.01 or x1 <= left + 0.01 or bottom <= y0 + 0.01 or y1 <= top + 0.01


@FEW
@given(boxes())
def test_every_edge_arrives_where_it_leads(layout: Page, asked: dict[str, Any]) -> None:
    made = laid(layout, asked)
    reached = {
        (edge["from"], edge["to"]) for line in made["lines"] for edge in line["edges"] if "from" in edge
    }
    far = {(edge["from"], edge["to"]) for edge in made["far"]}
    wanted = {frozenset((edge["from"], edge["to"])) for edge in asked["edges"]}  # those in circles are turned
    assert {frozenset(pair) for pair in reached | far} == wanted


@FEW
@given(boxes())
def test_without_circles_every_arrow_leads_down(layout: Page, asked: dict[str, Any]) -> None:
    asked["edges"] = [edge for edge in asked["edges"] if edge["from"] < edge["to"]]
    asked["tallest"] = 10**6
    made = laid(layout, asked)
    for edge in asked["edges"]:
        below = made["at"][edge["from"]]["y"] + asked["sizes"][edge["from"]]["h"]
        assert below < made["at"][edge["to"]]["y"]
    assert not any(line.get("arrowBack") for line in made["lines"])


def test_tall_boxes_of_a_chain_fill_their_columns_evenly(layout: Page) -> None:
    chain = [{"from": at, "to": at + 1, "tensors": 1} for at in range(3)]
    asked = {"sizes": [{"w": 200, "h": 600}] * 4, "edges": chain, "enters": [0], "leaves": [3]}
    made = laid(layout, asked | {"aspect": 1.35, "tallest": 420})
    assert len({at["x"] for at in made["at"]}) == 4, "no column holds two while others hold one"


def test_an_order_has_few_edges_back(layout: Page) -> None:
    ring = [{"from": i, "to": (i + 1) % 20, "tensors": 1 + 9 * (i < 19)} for i in range(20)]
    assert layout.evaluate("(edges) => ranks(20, edges)", ring) == list(range(20))
