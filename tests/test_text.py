"""Texts of strangers become printable and short; lists, guesses and numbers have one form."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.text import (
    did_you_mean,
    ending,
    factor,
    factor_ends,
    file_name,
    in_digits,
    in_gib,
    in_ms,
    in_time,
    listed,
    nearest,
    one_line,
    path_text,
    printable,
    quoted,
    shorten,
    shorten_middle,
)

HOSTILE = "\x1b]0;owned\x07\u202e"


def test_what_a_terminal_obeys_becomes_visible() -> None:
    assert printable(HOSTILE) == r"\x1b]0;owned\x07\u202e"
    assert printable("a\nb", keep="\n") == "a\nb"


def test_the_name_of_a_model_becomes_that_of_a_file() -> None:
    assert file_name("../../etc/passwd") == "etc-passwd"
    assert file_name("bert base (fp16)") == "bert-base-fp16"
    assert file_name("…") == "model"
    assert file_name("/", "unnamed") == "unnamed"
    assert len(file_name("x" * 1_000_000)) == 60


@pytest.mark.parametrize("shortened", [one_line, shorten, quoted, lambda text: shorten_middle(text, 100)])
def test_a_megabyte_becomes_a_line(shortened) -> None:
    assert len(shortened("x" * 1_000_000)) < 300
    assert len(shortened(HOSTILE * 100_000)) < 700


def test_a_label_is_in_one_line() -> None:
    assert one_line(" two\n words\t") == "two words"
    assert one_line("x" * 20, 10) == "x" * 9 + "…"


def test_a_name_that_was_cut_says_how_long_it_was() -> None:
    assert shorten("x" * 60) == "x" * 60
    assert shorten("x" * 61) == "x" * 59 + "… (61 characters)"


def test_the_middle_is_left_out() -> None:
    assert shorten_middle("reason", 6) == "reason"
    assert shorten_middle("first" + "x" * 90 + "last!", 10) == "first… (90 characters left out) …last!"


def test_of_a_long_path_the_end_stays() -> None:
    assert path_text(Path("/" + "a" * 300 + "/model.onnx")).endswith("/model.onnx")


def test_of_the_path_of_a_node_the_end_stays() -> None:
    assert ending("/scope" * 100 + "/last", 40).endswith("/scope/last")
    assert ending("/a/b", 40) == "/a/b"
    assert len(ending("\x1b" * 500, 40)) < 50


def test_values_are_quoted_whatever_they_are() -> None:
    nested: list[object] = []
    nested.append(nested)
    assert quoted("a") == "'a'"
    assert quoted(nested) == "[[[[[[[...]]]]]]]"
    assert quoted(10**5000) == "a int too large to show"


@pytest.mark.parametrize(
    ("names", "limit", "text"),
    [
        ((), 8, "none"),
        (("a",), 8, "'a'"),
        (("a", "b"), 8, "'a' and 'b'"),
        (("a", "b", "c"), 8, "'a', 'b' and 'c'"),
        (("a", "b", "c"), 2, "'a', 'b' and 1 more"),
        (tuple("abcdefghij"), None, "'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i' and 'j'"),
    ],
)
def test_lists(names: tuple[str, ...], limit: int | None, text: str) -> None:
    assert listed(names, limit) == text


def test_the_nearest_name() -> None:
    known = ("GeluFusion", "BiasGeluFusion", "MatMulAddFusion")
    assert nearest("gelufusio", known)[0] == "GeluFusion"
    assert did_you_mean("gelufusio", known) == "Did you mean 'GeluFusion'? "
    assert did_you_mean("zzz", known) == ""
    assert did_you_mean(7, known) == ""


def test_durations_and_sizes() -> None:
    assert in_ms(0.0123456) == "12.35 ms"
    assert in_ms(12.3456) == "12,346 ms"
    assert in_ms(0.001, 3, signed=True) == "+1 ms"
    assert in_ms(None) is None
    assert [in_digits(rate) for rate in (0.12346, 1040.2, 123456.0)] == ["0.1235", "1,040", "123,456"]
    assert in_gib(3 << 29) == "1.5 GiB"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0 µs"), (39.4e-6, "39.4 µs"), (701e-6, "701 µs"), (999.9e-6, "1 ms"), (1e-3, "1 ms"),
        (3.299e-3, "3.3 ms"), (0.12345, "123 ms"), (1.0, "1 s"), (1234.5, "1,234 s"),
        (-0.5e-3, "\N{MINUS SIGN}500 µs"),
    ],
)  # fmt: skip
def test_a_duration_is_written_as_the_views_write_it(seconds: float, text: str) -> None:
    assert in_time(seconds) == text


def test_a_signed_duration_has_its_sign() -> None:
    assert [in_time(seconds, signed=True) for seconds in (1e-3, -1e-3)] == ["+1 ms", "\N{MINUS SIGN}1 ms"]


@pytest.mark.parametrize(
    ("interval", "words", "ends"),
    [
        ((1.83, 1.79, 1.88), "1.83×", " (1.79 to 1.88)"),
        ((1.0423, 1.039, 1.046), "1.042×", " (1.039 to 1.046)"),
        ((2.04, 1.7, 2.4), "about 2×", " (1.7 to 2.4)"),
        ((5.3, 4.1, 7.0), "about 5×", " (4.1 to 7.0)"),
        ((113.0, 96.0, 133.0), "about 110×", " (96 to 133)"),
        ((1.74, 1.065, 2.84), "at least 1.07×", " (1.07 to 2.8)"),
        ((0.3, 0.1, 0.5), "at most 0.50×", " (0.10 to 0.50)"),
        ((1.1, 0.62, 1.94), "up to 1.9×", " (0.62 to 1.9)"),
        ((1.2, 1.1, None), "at least 1.10×", ""),
        ((1.31, None, None), "about 1.3×", ""),
        ((1.04, None, None), "about 1.04×", ""),
    ],
)
def test_a_factor_has_the_digits_that_its_interval_leaves(
    interval: tuple[float, float | None, float | None], words: str, ends: str
) -> None:
    assert factor(*interval) == words
    assert factor_ends(*interval[1:]) == ends


@pytest.mark.parametrize("end", [0.0, -1.0, float("inf"), float("nan"), 1e308, 5e-324])
def test_a_strangers_interval_is_written_somehow(end: float) -> None:
    assert "×" in factor(2.0, end, end)
    assert factor_ends(end, end)
