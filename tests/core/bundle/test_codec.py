"""The codec follows type hints and the law of units, and says where a value does not fit."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypeAliasType

from tests.amount import amount
from workbench.core.bundle import limits
from workbench.core.bundle.codec import TABLE, decode, encode, json_schema
from workbench.core.bundle.columns import FILES, NANOSECONDS, REAL, Columns, in_nanoseconds
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
    rows: tuple[Swapped[int, float], ...] = field(metadata=TABLE)


@dataclass(frozen=True, slots=True)
class Part:
    """Something inside."""

    name: str
    values: tuple[float, ...]
    wait_s: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a table."""

    kind: Literal["a", "b"]
    share: float
    names: tuple[str, ...]
    dims: tuple[int | str | None, ...] | None
    inners: tuple[Part, ...]


@dataclass(frozen=True)
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
    maybe_number: float | None
    pair: tuple[str, int]
    parts: tuple[Part, ...]
    nested: tuple[tuple[int, ...], ...]
    at_utc: str
    lines: tuple[Line, ...] = field(metadata=TABLE)
    index: Mapping[str, Part] = field(metadata=TABLE)
    graph: bytes | None


@dataclass(frozen=True, eq=False)
class Arrays:
    """Rows of numpy."""

    whole: npt.NDArray[np.int32]
    real: npt.NDArray[np.float32]


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
        "maybe_number": None,
        "pair": ("x", -1),
        "parts": (Part("p", (1.0, -2.0)), Part("q", (), 0.5)),
        "nested": ((1, 2), ()),
        "at_utc": "2026-11-21T08:00:00Z",
        "lines": (Line("a", 0.5, ("x",), (1, "batch", None), (Part("i", (3.0,)),)),),
        "index": {"one": Part("o", (4.0,))},
        "graph": b"graph",
    }
    return Whole(**{**values, **changes})


def there_and_back(record: T) -> T:
    columns = Columns()
    blob = encode(record, columns)
    return decode(type(record), blob, Columns.of(columns.members()))


def test_every_form_comes_back() -> None:
    assert there_and_back(whole()) == whole()


def test_a_type_alias_is_the_type_it_stands_for() -> None:
    record = Aliased((1, "a"), ("x", "y"), rows=((0.5, 1), (1.5, 2)))
    assert there_and_back(record) == record
    with pytest.raises(BundleError, match=r"pair\[0\]: expected `int`"):
        encode(Aliased(("a", 1), None, rows=()), Columns())  # type: ignore[arg-type]


_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_parts = st.builds(Part, _texts, st.lists(st.floats(allow_nan=False)).map(tuple), st.none() | st.floats(0, 9))
_lines = st.builds(
    Line,
    st.sampled_from(["a", "b"]),
    st.floats(allow_nan=False),
    st.lists(_texts, max_size=3).map(tuple),
    st.none() | st.lists(st.none() | _texts | st.integers(-(2**63) + 1, 2**63 - 1), max_size=3).map(tuple),
    st.lists(_parts, max_size=2).map(tuple),
)


@settings(max_examples=amount(60))
@given(
    number=st.floats(allow_nan=False),
    saved=st.floats(allow_nan=False, allow_infinity=False),
    parts=st.lists(_parts, max_size=3),
    lines=st.lists(_lines, max_size=4),
    index=st.dictionaries(_texts, _parts, max_size=3),
    graph=st.none() | st.binary(),
)
def test_everything_comes_back_to_the_last_bit(
    number: float, saved: float, parts: list[Part], lines: list[Line], index: Any, graph: bytes | None
) -> None:
    record = whole(
        number=number, maybe_number=number, saved_s=saved, wait_s=abs(saved), parts=tuple(parts),
        lines=tuple(lines), index=index, graph=graph,
    )  # fmt: skip
    back = there_and_back(record)
    assert back == record
    assert repr(back) == repr(record), "zeros keep their sign"


def test_arrays_come_back_with_their_type_and_unwritable() -> None:
    back = there_and_back(Arrays(np.array([1, -1], np.int32), np.array([0.5, np.nan], np.float32)))
    assert back.whole.tolist() == [1, -1]
    assert (back.whole.dtype, back.real.dtype) == (np.int32, np.float32)
    assert np.array_equal(back.real, np.array([0.5, np.nan], np.float32), equal_nan=True)
    assert not back.whole.flags.writeable
    assert not back.real.flags.writeable


def test_integers_too_large_for_their_array() -> None:
    columns = Columns()
    blob = encode(Arrays(np.array([1], np.int32), np.zeros(0, np.float32)), columns)
    wide = Columns()
    wide.add("q", [1 << 40])
    with pytest.raises(BundleError, match="whole: integers beyond int32"):
        decode(Arrays, blob, wide)


@pytest.mark.parametrize("value", [np.zeros((2, 2), np.int32), np.zeros(2), [1, 2]])
def test_what_is_no_such_array_is_our_fault(value: Any) -> None:
    with pytest.raises(BundleError, match="Arrays cannot be written") as caught:
        encode(Arrays(value, np.zeros(0, np.float32)), Columns())
    assert "report it" in caught.value.fix


def test_what_is_not_a_number_is_spelled_out() -> None:
    assert b'"number":"nan","' in encode(whole(number=float("nan")), Columns())
    back = there_and_back(whole(number=float("nan"), maybe_number=float("-inf")))
    assert back.number != back.number
    assert back.maybe_number == float("-inf")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"flag": 1}, "flag: expected `bool`, got `int`"),
        ({"choice": "c"}, r"choice: invalid enum value 'c'"),
        ({"number": "1"}, r"number: expected a number, got '1'"),
        ({"number": True}, "number: expected a number, got True"),
        ({"wait_s": -0.5}, "wait_s: expected `float` >= 0"),
        ({"wait_s": float("nan")}, "cannot be written: Out of range"),
        ({"size_bytes": -1}, "size_bytes: expected `int` >= 0"),
        ({"size_bytes": 1.0}, "size_bytes: expected `int`, got `float`"),
        ({"maybe": limits.INTEGER + 1}, "maybe: expected `int` <="),
        ({"pair": ("x", 1, 2)}, "cannot be written"),
        ({"parts": (None,)}, "expected a Part, got None"),
        ({"parts": (Part("p", ("x",)),)}, "cannot be written"),  # type: ignore[arg-type]
        ({"nested": ((1, "2"),)}, r"nested\[0\]\[1\]: expected `int`"),
        ({"at_utc": None}, "at_utc: expected a time"),
        ({"at_utc": "noon"}, "at_utc: expected a time like .* got 'noon'"),
        ({"lines": (Line("c", 0.5, (), None, ()),)}, r"lines\[0\]\[0\]: invalid enum value"),  # type: ignore[arg-type]
    ],
)
def test_a_value_of_our_own_that_does_not_fit_is_our_fault(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(BundleError, match=problem) as caught:
        encode(whole(**changes), Columns())
    assert "report it" in caught.value.fix


def test_a_form_that_no_record_may_have_is_a_programming_error() -> None:
    @dataclass(frozen=True)
    class Bad:
        """Sets have no order."""

        rows: tuple[set[str], ...] = field(metadata=TABLE)

    with pytest.raises(TypeError, match="rows: a record cannot hold set"):
        json_schema(Bad, "bad")
    with pytest.raises(TypeError, match="cannot hold object: use a frozen dataclass"):
        json_schema(object, "bad")


def test_too_many_samples_are_refused_when_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SAMPLES", 3)
    with pytest.raises(BundleError, match="more than 3 samples") as caught:
        encode(whole(parts=(Part("p", (1.0, 2.0)), Part("q", (3.0, 4.0)))), Columns())
    assert "budget_s" in caught.value.fix


def test_values_in_messages_stay_short() -> None:
    assert quoted("x" * 1_000_000) == repr("x" * 80) + "… (1,000,000 characters)"
    assert quoted([1, 2]) == "[1, 2]"
    assert quoted(10**4000).endswith("… (int)")
    assert len(quoted(10**4000)) < 100


def test_a_field_that_stands_twice_is_refused() -> None:
    columns = Columns()
    blob = encode(Part("i", (3.0,)), columns)
    twice = blob.replace(b'"name":"i"', b'"name":"i","name":"other"')
    assert twice != blob
    with pytest.raises(BundleError, match="It has 'name' twice in one object"):
        decode(Part, twice, Columns.of(columns.members()))


@given(st.lists(st.integers(-(10**15), 10**15), min_size=1))
def test_whole_nanoseconds_are_kept_as_integers(nanoseconds: list[int]) -> None:
    columns = Columns()
    columns.add(REAL, [value / 1e9 for value in nanoseconds])
    members = columns.members()
    assert set(members) == {NANOSECONDS}
    assert Columns.of(members).take(REAL, len(nanoseconds)).tolist() == [value / 1e9 for value in nanoseconds]


@given(st.lists(st.floats(), min_size=1))
def test_no_bit_of_any_number_is_lost(numbers: list[float]) -> None:
    columns = Columns()
    columns.add(REAL, numbers)
    read = Columns.of(columns.members()).take(REAL, len(numbers))
    assert read.tobytes() == array(REAL, numbers).tobytes()


@pytest.mark.parametrize("number", [1e-10, 0.1 + 1e-16, -0.0, math.nan, math.inf, 1e300])
def test_what_is_not_a_whole_nanosecond_stays_a_float(number: float) -> None:
    assert in_nanoseconds(array(REAL, [0.001, number])) is None
    columns = Columns()
    columns.add(REAL, [0.001, number])
    assert set(columns.members()) == {FILES[REAL]}
