"""Units, ticks, thinning and untrusted text: the laws that all figures stand on."""

from __future__ import annotations

import html
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.factories.comparisons import HOSTILE
from workbench.core.text import one_line
from workbench.drawing.scale import Scale, log_ticks, scale_of
from workbench.drawing.thinning import evenly, fair_shares
from workbench.drawing.words import lines, plain, plain_lines


@pytest.mark.parametrize(
    ("medians_s", "expected"),
    [
        ((0.002, 0.001), Scale("ms", 1e3, False)),
        ((0.0005, 0.0004), Scale("µs", 1e6, False)),
        ((0.0005, 0.004), Scale("ms", 1e3, False)),
        ((2.5, 1.0), Scale("s", 1.0, False)),
        ((0.002, 0.0401), Scale("ms", 1e3, True)),
        ((0.002, 0.04), Scale("ms", 1e3, False)),
        ((1e-9, None), Scale("µs", 1e6, False)),
        ((None, None), Scale("ms", 1e3, False)),
        ((), Scale("ms", 1e3, False)),
        ((0.0, 0.002), Scale("ms", 1e3, False)),
    ],
)
def test_the_unit_and_the_kind_of_axis_follow_the_medians(
    medians_s: tuple[float | None, ...], expected: Scale
) -> None:
    assert scale_of(medians_s) == expected


def test_numbers_are_written_without_exponent() -> None:
    scale = Scale("ms", 1e3, False)
    assert scale.text(0.0012345) == "1.234 ms"
    assert scale.text(1234.5) == "1,234,500 ms"
    assert scale.text(0.0) == "0 ms"
    assert (scale.number(0.02048), scale.number(0.021)) == ("20.48", "21.00")
    assert scale.number(0.99996) == "1000"
    assert scale.number(2e-8) == "0.00002000"  # beside a config of seconds


@given(st.floats(1e-9, 1e9), st.floats(1, 1e6))
def test_log_ticks_enclose_what_is_shown_and_rise(least: float, factor: float) -> None:
    ticks = log_ticks(least, least * factor)
    assert list(ticks) == sorted(set(ticks))
    assert ticks[0] <= least * (1 + 1e-9)
    assert ticks[-1] >= least * factor * (1 - 1e-9)


def test_log_ticks_take_a_zero_for_something_small() -> None:
    assert log_ticks(0.0, 50.0)[0] > 0
    assert all(tick > 0 for tick in log_ticks(0.0, 0.0))


@given(st.lists(st.integers(0, 500), max_size=8), st.integers(0, 1000))
def test_shares_are_fair(counts: list[int], most: int) -> None:
    shares = fair_shares(counts, most)
    assert all(0 <= share <= count for share, count in zip(shares, counts, strict=True))
    assert sum(shares) == min(most, sum(counts))
    cut = [share for share, count in zip(shares, counts, strict=True) if share < count]
    assert not cut or max(shares) <= min(cut) + 1  # nobody has more than one who had to give


@given(st.lists(st.floats(allow_nan=False), min_size=1), st.integers(0, 100))
def test_thinning_keeps_order_and_ends(values: list[float], count: int) -> None:
    ordered = sorted(values)
    kept = evenly(ordered, count)
    assert len(kept) == min(count, len(ordered))
    assert list(kept) == sorted(kept)
    if count >= 2:
        assert (kept[0], kept[-1]) == (ordered[0], ordered[-1])


@given(st.integers(101, 5_000))
def test_thinning_sorted_values_keeps_their_quantiles(count: int) -> None:
    ordered = [at / count for at in range(count)]
    kept = evenly(ordered, 101)
    for percent in (10, 50, 90):
        place = round(percent / 100 * (len(ordered) - 1))
        assert kept[percent] in ordered[max(0, place - 1) : place + 2]


@given(st.text(), st.integers(2, 80))
def test_text_becomes_one_short_printable_line(text: str, most: int) -> None:
    line = one_line(text, most)
    assert line.isprintable()
    assert len(line) <= 2 * most


@given(st.text())
def test_plotly_finds_nothing_to_interpret(text: str) -> None:
    shown = plain(text)
    assert not set("<>$") & set(shown)
    assert "%{" not in shown
    assert html.unescape(shown) == one_line(text)
    assert re.fullmatch(r"(?:[^&]|&(?:lt|gt|amp|#36|#37);)*", shown)


@given(st.text(), st.integers(10, 60))
def test_broken_lines_fit_their_column(text: str, columns: int) -> None:
    assert all(len(line) <= columns for line in lines(text, columns))


def test_a_hostile_name_is_shown_as_it_is_written() -> None:
    shown = plain_lines(HOSTILE, 200)
    assert "&lt;/script&gt;&lt;img src=x" in shown
    assert "&#36;x&#36;" in shown
    assert "\\x00\\u202e" in shown
    assert "<" not in shown


def test_a_megabyte_of_name_is_cut() -> None:
    assert plain("x" * 1_000_000).endswith("…")
    assert len(plain("\x00" * 1_000_000)) < 1_000


def test_the_text_of_a_number_keeps_four_digits() -> None:
    scale = Scale("µs", 1e6, False)
    assert math.isclose(scale.of(1.23456789e-4), 123.457)
