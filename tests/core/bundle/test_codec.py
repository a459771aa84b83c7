"""The codec follows type hints and the law of units, and says where a value does not fit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from workbench.core.bundle import limits
from workbench.core.bundle.codec import decode, encode, shape_of_class
from workbench.core.bundle.columns import ColumnReader, ColumnWriter
from workbench.core.bundle.jsontext import dump_json, load_json
from workbench.core.errors import BundleError
from workbench.core.text import quoted

T, Left, Right = TypeVar("T"), TypeVar("Left"), TypeVar("Right")
Swapped = TypeAliasType("Swapped", tuple[Right, Left], type_params=(Left, Right))
Names = TypeAliasType("Names", tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Aliased:
    """Fields whose hints are type aliases."""

    pair: Swapped[str, int]
    names: Names | None
    rows: tuple[Swapped[int, float], ...] = field(metadata={"table": True})


@dataclass(frozen=True, slots=True)
class Part:
    """Something inside."""

    name: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """One field of every form."""

    flag: bool
    choice: Literal["a", "b"]
    number: float
    wait_s: float
    saved_s: float = field(metadata={"signed": True})
    size_bytes: int
    change_bytes: int = field(metadata={"signed": True})
    maybe: int | None
    pair: tuple[str, int]
    parts: tuple[Part, ...]
    nested: tuple[tuple[int, ...], ...]
    at_utc: str


def whole(**changes: Any) -> Whole:
    values: dict[str, Any] = {
        "flag": True,
        "choice": "a",
        "number": 0.1,
        "wait_s": 0.0,
        "saved_s": -1.5,
        "size_bytes": 3,
        "change_bytes": -3,
        "maybe": None,
        "pair": ("x", -1),
        "parts": (Part("p", (1.0, -2.0)), Part("q", ())),
        "nested": ((1, 2), ()),
        "at_utc": "2026-11-21T08:00:00Z",
    }
    return Whole(**{**values, **changes})


def there_and_back(record: T) -> T:
    columns = ColumnWriter()
    text = dump_json(encode(record, columns))
    return decode(type(record), load_json(text, "record.json"), ColumnReader(columns.members()))


def test_every_form_comes_back() -> None:
    assert there_and_back(whole()) == whole()


def test_a_type_alias_is_the_type_it_stands_for() -> None:
    record = Aliased((1, "a"), ("x", "y"), rows=((0.5, 1), (1.5, 2)))
    assert there_and_back(record) == record
    with pytest.raises(BundleError, match=r"pair\[0\]: expected an integer"):
        encode(Aliased(("a", 1), None, rows=()), ColumnWriter())  # type: ignore[arg-type]


@given(
    number=st.floats(allow_nan=False),
    saved=st.floats(allow_nan=False, allow_infinity=False),
    rows=st.lists(st.lists(st.floats(allow_nan=False, width=64)), max_size=5),
    name=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_numbers_come_back_to_the_last_bit(
    number: float, saved: float, rows: list[list[float]], name: str
) -> None:
    record = whole(number=number, parts=tuple(Part(name, tuple(row)) for row in rows), wait_s=abs(saved))
    back = there_and_back(record)
    assert back == record
    assert repr(back) == repr(record), "zeros keep their sign"


def test_what_is_not_a_number_is_spelled_out() -> None:
    columns = ColumnWriter()
    data: Any = encode(whole(number=float("nan")), columns)
    assert data["number"] == "nan"
    assert json.loads(dump_json(data))["number"] == "nan"
    back = decode(Whole, data, ColumnReader(columns.members())).number
    assert back != back


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"flag": 1}, "flag: expected true or false, got 1"),
        ({"choice": "c"}, r"choice: expected one of 'a', 'b', got a text \('c'\)"),
        ({"number": "1"}, r"number: expected a number, got a text \('1'\)"),
        ({"number": True}, "number: expected a number, got True"),
        ({"number": 1 << 64}, "number: expected a number, got an integer too large"),
        ({"wait_s": -0.5}, "wait_s: expected zero or more seconds, got -0.5"),
        ({"wait_s": float("nan")}, "wait_s: expected zero or more seconds, got nan"),
        ({"size_bytes": -1}, "size_bytes: expected an integer from 0"),
        ({"size_bytes": 1.0}, "size_bytes: expected an integer, got 1.0"),
        ({"maybe": limits.INTEGER + 1}, "maybe: expected an integer from"),
        ({"pair": ("x", 1, 2)}, "pair: expected a tuple of 2, got a tuple"),
        ({"pair": ["x", 1]}, "pair: expected a tuple of 2, got a list"),
        ({"parts": (None,)}, r"parts\[0\]: expected a Part, got null"),
        ({"parts": (Part("p", [1.0]),)}, r"parts\[0\].values: expected a tuple, got a list"),  # type: ignore[arg-type]
        ({"parts": (Part("p", ("x",)),)}, r"parts\[0\].values: expected only numbers"),  # type: ignore[arg-type]
        ({"nested": ((1, "2"),)}, r"nested\[0\]\[1\]: expected an integer"),
        ({"at_utc": None}, "at_utc: expected a time as text, got null"),
    ],
)
def test_a_value_of_our_own_that_does_not_fit_is_our_fault(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(BundleError, match=problem) as caught:
        encode(whole(**changes), ColumnWriter())
    assert "report it" in caught.value.fix


def test_a_form_that_no_record_may_have_is_a_programming_error() -> None:
    @dataclass(frozen=True)
    class Bad:
        """Dicts are mutable."""

        table: dict[str, int]

    with pytest.raises(TypeError, match=r"Bad\.table: a record cannot hold dict"):
        shape_of_class(Bad)
    with pytest.raises(TypeError, match="cannot hold bytes: use a frozen dataclass"):
        shape_of_class(bytes)


def test_too_many_samples_are_refused_when_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SAMPLES", 3)
    with pytest.raises(BundleError, match="more than 3 samples") as caught:
        encode(whole(parts=(Part("p", (1.0, 2.0)), Part("q", (3.0, 4.0)))), ColumnWriter())
    assert "budget_s" in caught.value.fix


def test_values_in_messages_stay_short() -> None:
    assert quoted("x" * 1_000_000) == repr("x" * 80) + "… (1,000,000 characters)"
    assert quoted([1, 2]) == "[1, 2]"
    assert quoted(10**4000).endswith("… (int)")
    assert len(quoted(10**4000)) < 100
