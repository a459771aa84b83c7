"""Names beside points: none over another, and none beyond the edge."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from workbench.drawing.name_places import LINE_HEIGHT, PLACES, NamedPoint, box_of, name_places

WIDTH, HEIGHT = 150.0, 270.0
DOWN = st.floats(20, HEIGHT - 20)
POINTS = st.builds(NamedPoint, x=st.floats(0, WIDTH), y=DOWN, radius=st.floats(2, 5), width=st.floats(10, 60))


def test_a_name_stands_at_the_side_that_has_room() -> None:
    left, right = NamedPoint(5, 50, 5, 60), NamedPoint(145, 200, 5, 60)
    assert name_places([left], WIDTH, HEIGHT) == ["middle right"]
    assert name_places([right], WIDTH, HEIGHT) == ["middle left"]
    assert name_places([], WIDTH, HEIGHT) == []


def test_names_of_near_points_do_not_meet() -> None:
    points = [NamedPoint(20, 200, 4, 60), NamedPoint(22, 204, 4, 60), NamedPoint(24, 208, 4, 60)]
    places = name_places(points, WIDTH, HEIGHT)
    boxes = [box_of(point, place) for point, place in zip(points, places, strict=True)]
    for (x, y, width), (other_x, other_y, other_width) in combinations(boxes, 2):
        apart = abs(y - other_y) >= LINE_HEIGHT
        assert apart or x + width <= other_x or other_x + other_width <= x


def test_many_names_find_their_places_a_few_at_a_time() -> None:
    far = [NamedPoint(75, 20.0 * row, 4, 40) for row in range(1, 13)]
    assert name_places(far, WIDTH, HEIGHT) == ["middle right"] * 12


@given(POINTS)
def test_a_single_name_is_never_cut(point: NamedPoint) -> None:
    (place,) = name_places([point], WIDTH, HEIGHT)
    assert place in PLACES
    x, y, width = box_of(point, place)
    assert x >= -1e-6
    assert x + width <= WIDTH + 1e-6
    assert y >= 0
    assert y + LINE_HEIGHT <= HEIGHT
