"""Laws of the layout, which is JavaScript: no box over another, arrows down, every line between its ends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from tests.amount import amount
from workbench.drawing.canvas.base import javascript

pytestmark = [pytest.mark.browser, pytest.mark.slow]

SIZES = st.integers(20, 200)
FEW = settings(max_examples=amount(150, 50), suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def layout(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(f"<script>{javascript('common')}\n{javascript('graph')}</script>")
    yield page
    page.close()


def tied(item: int) -> dict[str, Any]:
    """A box with a wire from or to the outside."""
    return {"item": item, "wires": [1000 + item]}


@st.composite
def boxes(draw: st.DrawFn) -> dict[str, Any]:
    """Up to 60 boxes with any edges between them, circles among them."""
    count = draw(st.integers(1, 60))
    number = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(number, number), max_size=150, unique=True))
    return {
        "sizes": [{"w": draw(SIZES), "h": draw(SIZES)} for _ in range(count)],
        "edges": [
            {"from": a, "to": b, "tensors": 1, "wires": [wire]} for wire, (a, b) in enumerate(pairs) if a != b
        ],
        "enters": [tied(item) for item in draw(st.lists(number, max_size=5, unique=True))],
        "leaves": [tied(item) for item in draw(st.lists(number, max_size=5, unique=True))],
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
def test_the_route_of_a_wire_leads_from_box_to_box(layout: Page, asked: dict[str, Any]) -> None:
    asked["tallest"] = 10**6
    made = laid(layout, asked)
    far = {edge["wires"][0] for edge in made["far"]}
    for edge in asked["edges"]:
        (wire,) = edge["wires"]
        if wire in far:
            continue
        ends = {tuple(point) for line in made["lines"] if wire in line["wires"] for point in line["points"]}
        for box in (edge["from"], edge["to"]):
            at, size = made["at"][box], asked["sizes"][box]
            middle = pytest.approx(at["x"] + size["w"] / 2)
            assert any(x == middle and at["y"] - 1 <= y <= at["y"] + size["h"] + 1 for x, y in ends)


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
    chain = [{"from": at, "to": at + 1, "tensors": 1, "wires": [at]} for at in range(3)]
    asked = {"sizes": [{"w": 200, "h": 600}] * 4, "edges": chain, "enters": [tied(0)], "leaves": [tied(3)]}
    made = laid(layout, asked | {"aspect": 1.35, "tallest": 420})
    assert len({at["x"] for at in made["at"]}) == 4, "no column holds two while others hold one"


def test_an_order_has_few_edges_back(layout: Page) -> None:
    ring = [{"from": i, "to": (i + 1) % 20, "tensors": 1 + 9 * (i < 19)} for i in range(20)]
    assert layout.evaluate("(edges) => ranks(20, edges)", ring) == list(range(20))


@st.composite
def pairs(draw: st.DrawFn) -> dict[str, Any]:
    """Two graphs without circles, and links between their rows."""
    totals = [draw(st.integers(1, 25)), draw(st.integers(0, 25))]
    wires = [
        [wire for wire in draw(st.lists(st.tuples(number, number), max_size=40)) if wire[0] < wire[1]]
        for total in totals
        for number in [st.integers(0, max(total - 1, 0))]
    ]
    ends = st.tuples(st.integers(0, totals[0] - 1), st.integers(0, max(totals[1] - 1, 0)))
    links = draw(st.lists(ends, max_size=30)) if totals[1] else []
    return {"totals": totals, "links": links, "wires": wires}


@FEW
@given(pairs())
def test_rows_of_two_graphs_never_meet_and_linked_ones_stand_level(
    layout: Page, asked: dict[str, Any]
) -> None:
    made = layout.evaluate("(a) => alignedRows(a.totals, a.links, a.wires)", asked)
    for slots, total in zip(made["slots"], asked["totals"], strict=True):
        assert len(slots) == total
        assert all(abs(a - b) >= 1 for at, a in enumerate(slots) for b in slots[:at])
        assert all(0 <= slot <= made["height"] - 1 for slot in slots)
    for left, right in asked["links"]:
        group = next(group for group in made["groups"] if left in group["rows"][0])
        assert right in group["rows"][1]
        for side, row in enumerate((left, right)):
            assert group["top"] <= made["slots"][side][row] <= group["top"] + group["height"] - 1


def test_fused_rows_are_drawn_together_in_the_order_of_the_graph(layout: Page) -> None:
    asked = {
        "totals": [5, 3],
        "links": [[0, 0], [1, 1], [3, 1], [4, 2]],  # rows 1 and 3 became one; row 2 was folded
        "wires": [[[0, 1], [2, 3], [1, 3], [3, 4]], [[0, 1], [1, 2]]],
    }
    made = layout.evaluate("(a) => alignedRows(a.totals, a.links, a.wires)", asked)
    assert made["slots"] == [[0, 2, 1, 3, 4], [0, 2.5, 4]]


@FEW
@given(pairs())
def test_lines_that_pass_rows_share_no_lane(layout: Page, asked: dict[str, Any]) -> None:
    slots = list(range(asked["totals"][0]))
    made = layout.evaluate(
        "([slots, wires]) => (({ links, lane }) => ({ links, lane: [...lane] }))(columnLinks(slots, wires))",
        [slots, asked["wires"][0]],
    )
    lanes, spans = dict(made["lane"]), dict[int, list[tuple[int, int]]]()
    for maker in {line["from"] for line in made["links"] if not line["near"]}:
        ends = [line["to"] for line in made["links"] if line["from"] == maker and not line["near"]]
        spans.setdefault(lanes[maker], []).append((maker, max(ends)))
    for taken in spans.values():
        ordered = sorted(taken)
        assert all(end < start for (_, end), (start, _) in pairwise(ordered))


# What is written in a box whose room is as wide as `sample`.
WRITTEN = """([parts, sample]) => {
  const ctx = document.createElement('canvas').getContext('2d');
  ctx.font = '12px sans-serif';
  return fitParts(ctx, parts, ctx.measureText(sample).width + 2, ', ');
}"""


@pytest.mark.parametrize(
    ("parts", "sample", "written"),
    [
        (["106 µs", "21 nodes"], "106 µs, 21 nodes", "106 µs, 21 nodes"),
        (["106 µs", "21 nodes"], "106 µs, 21", "106 µs"),
        (["106 µs", "21 nodes"], "106", ""),
        (["", "1×128×768"], "1×128×7", ""),
        (["a long name"], "a long", "a…me"),
    ],
)
def test_a_box_drops_whole_parts_and_cuts_no_number(
    layout: Page, parts: list[str], sample: str, written: str
) -> None:
    shown = layout.evaluate(WRITTEN, [parts, sample])
    assert ("…" in shown) if "…" in written else (shown == written)


@pytest.mark.parametrize(("aspect", "height"), [(0.5, 380), (2.0, 290), (0.1, 380)])
def test_wider_gaps_fill_a_tall_canvas(layout: Page, aspect: float, height: float) -> None:
    chain = [{"from": at, "to": at + 1, "tensors": 1, "wires": [at]} for at in range(3)]
    asked = {"sizes": [{"w": 200, "h": 50}] * 4, "edges": chain, "aspect": aspect}
    made = layout.evaluate("(a) => layered(a.sizes, a.edges, [], [], a.aspect, 1e6, true)", asked)
    assert made["h"] == pytest.approx(height), "four boxes of 50, with gaps of 30 to 60 between them"
