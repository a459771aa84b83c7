"""Tables by columns: every form comes back, and what a stranger wrote is refused where it does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.amount import amount
from workbench.core.bundle.codec import decode, encode, shape_of_class
from workbench.core.bundle.columns import ColumnReader, ColumnWriter
from workbench.core.bundle.tables import TABLE
from workbench.core.errors import BundleError


@dataclass(frozen=True, slots=True)
class Inner:
    """A part of a row."""

    name: str
    wait_s: float | None


@dataclass(frozen=True, slots=True)
class Line:
    """One field of every form."""

    key: str
    kind: Literal["a", "b"]
    flag: bool
    size_bytes: int
    change: int | None
    share: float
    at_utc: str
    names: tuple[str, ...]
    dims: tuple[int | str | None, ...] | None
    pair: tuple[str, int]
    inner: Inner
    inners: tuple[Inner, ...]


@dataclass(frozen=True, slots=True)
class Book:
    """Rows, pairs, an array, bytes."""

    lines: tuple[Line, ...] = field(metadata=TABLE)
    index: Mapping[str, Inner] = field(metadata=TABLE)
    column: npt.NDArray[np.int32]
    graph: bytes | None


_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
_whole = st.integers(-(1 << 63) + 1, (1 << 63) - 1)
_inner = st.builds(Inner, _words, st.none() | st.floats(0, 1e9))
_line = st.builds(
    Line,
    key=_words,
    kind=st.sampled_from(["a", "b"]),
    flag=st.booleans(),
    size_bytes=st.integers(0, (1 << 63) - 1),
    change=st.none() | _whole,
    share=st.floats(allow_nan=False),
    at_utc=st.datetimes().map(lambda at: at.isoformat()),
    names=st.lists(_words, max_size=3).map(tuple),
    dims=st.none() | st.lists(st.none() | _words | _whole, max_size=3).map(tuple),
    pair=st.tuples(_words, _whole),
    inner=_inner,
    inners=st.lists(_inner, max_size=2).map(tuple),
)


def line(**changes: Any) -> Line:
    values: dict[str, Any] = {
        "key": "k", "kind": "a", "flag": True, "size_bytes": 3, "change": None, "share": 0.5,
        "at_utc": "2026-11-21T08:00:00Z", "names": ("x", "y"), "dims": (1, "batch", None), "pair": ("p", 7),
        "inner": Inner("i", 0.25), "inners": (),
    }  # fmt: skip
    return Line(**{**values, **changes})


def book(*lines: Line, **changes: Any) -> Book:
    values: dict[str, Any] = {
        "lines": lines or (line(), line(key="m", change=-4, inners=(Inner("j", None),))),
        "index": {"one": Inner("o", 1.0)},
        "column": np.array([1, -1], np.int32),
        "graph": b"graph",
    }
    return Book(**{**values, **changes})


def saved(record: Book) -> tuple[Any, dict[str, bytes], list[str]]:
    columns = ColumnWriter()
    data = encode(record, columns)
    return data, columns.members(), columns.texts


def opened(data: Any, members: dict[str, bytes], texts: list[str]) -> Book:
    return decode(Book, data, ColumnReader(members, texts))


@settings(max_examples=amount(60))
@given(st.lists(_line, max_size=4), st.dictionaries(_words, _inner, max_size=3), st.none() | st.binary())
def test_everything_comes_back(lines: list[Line], index: dict[str, Inner], graph: bytes | None) -> None:
    record = book(index=index, graph=graph, lines=tuple(lines))
    found = opened(*saved(record))
    assert (found.lines, found.index, found.graph) == (record.lines, record.index, record.graph)
    assert repr(found.lines) == repr(record.lines), "zeros keep their sign"
    assert found.column.tolist() == [1, -1]
    assert found.column.dtype == np.int32
    assert not found.column.flags.writeable


def test_a_text_is_kept_once() -> None:
    data, members, texts = saved(book(*(line() for _ in range(1000))))
    assert len(texts) == len(set(texts)) < 12
    assert len(str(data)) < 3000
    assert sum(map(len, members.values())) < 250_000


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"size_bytes": -1}, "an integer from 0"),
        ({"size_bytes": 1 << 70}, "an integer from 0"),
        ({"key": 3}, "expected a text"),
        ({"kind": "c"}, "one of 'a', 'b'"),
        ({"flag": 1}, "true or false"),
        ({"inner": Inner("x", -1.0)}, "zero or more seconds"),
        ({"names": ["x"]}, "expected a tuple"),
        ({"pair": ("x",)}, "a tuple of 2"),
        ({"inner": None}, "expected a Inner"),
        ({"at_utc": "noon"}, "a time like"),
    ],
)
def test_our_own_faults_are_named(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(BundleError, match=problem) as caught:
        saved(book(line(**changes)))
    assert "lines" in caught.value.problem


def edits() -> list[tuple[str, Any]]:
    """Lies about what stands where."""

    def at(*path: Any, value: Any) -> Any:
        def edit(data: Any) -> None:
            for key in path[:-1]:
                data = data[key]
            data[path[-1]] = value

        return edit

    rows = ("lines", "columns")
    return [
        ("values where", at("lines", "rows", value=3)),
        ("expected an integer from 0", at("lines", "rows", value=-1)),
        ("values where", at("lines", "rows", value=1 << 60)),
        ("lacks", at(*rows, "key", value={"start": 0})),
        ("which holds", at(*rows, "key", "start", value=1 << 40)),
        ("stands for nothing", at(*rows, "kind", "start", value=10)),
        ("expected an object", at(*rows, value=[])),
        ("not used once|stands for nothing|values where", at(*rows, "names", "counts", "start", value=0)),
        ("expected a list", at(*rows, "pair", value={})),
        ("no blobs/1.bin", at("graph", value=1)),
        ("an integer below 0", at(*rows, "size_bytes", "start", value=10)),
    ]


@pytest.mark.parametrize(("problem", "edit"), edits())
def test_a_strangers_lies_are_refused(problem: str, edit: Any) -> None:
    data, members, texts = saved(book(line(change=-5), line(change=-6)))
    changed = deepcopy(data)
    edit(changed)
    with pytest.raises(BundleError, match=problem):
        opened(changed, members, texts)


def test_texts_that_are_missing() -> None:
    data, members, texts = saved(book())
    with pytest.raises(BundleError, match="stands for nothing"):
        opened(data, members, texts[:2])


def test_numbers_of_the_wrong_type_in_a_column() -> None:
    data, members, texts = saved(book())
    integers, numbers = (f"columns/{name}.npy" for name in ("integers", "numbers"))
    members[integers], members[numbers] = members[numbers], members[integers]
    with pytest.raises(BundleError, match="does not hold int64"):
        opened(data, members, texts)


def test_integers_too_large_for_their_array() -> None:
    columns = ColumnWriter()
    shape = shape_of_class(Book)
    data: Any = shape.encode(book(), "", columns)
    wide = np.array([1 << 40], np.int64)
    data["column"] = columns.add("Book.column", "q", wide.tobytes(), "Book.column")
    with pytest.raises(BundleError, match=r"beyond int32|not used once"):
        decode(Book, data, ColumnReader(columns.members(), columns.texts))


def test_a_key_twice_and_a_blob_unused() -> None:
    record = book(index={"one": Inner("o", 1.0), "two": Inner("o", 1.0)})
    data, members, texts = saved(record)
    with pytest.raises(BundleError, match="a key occurs twice"):
        opened(data, members, ["one" if text == "two" else text for text in texts])
    data["graph"] = None
    with pytest.raises(BundleError, match=r"blobs/0\.bin is not used"):
        opened(data, members, texts)


def test_what_no_table_can_hold_is_a_programming_error() -> None:
    @dataclass(frozen=True)
    class Bad:
        """Sets have no order."""

        rows: tuple[set[str], ...] = field(metadata=TABLE)

    with pytest.raises(TypeError, match="a table cannot hold"):
        shape_of_class(Bad)
