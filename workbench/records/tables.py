"""Long rows of values, stored by columns: a graph of 12,000 nodes is a dozen rows of numbers, no JSON.

`field(metadata=TABLE)` marks a `tuple[X, ...]`. Each text is stored once, in texts.json, and the columns
hold its number; integers are in columns/integers.npy, other numbers in columns/numbers.npy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from typing import Any, Protocol

from workbench.errors import BundleError
from workbench.records.columns import INTEGERS, NUMBERS, REAL, WHOLE, ColumnReader, ColumnWriter
from workbench.records.compound import (
    checked_list,
    checked_tuple,
    keyed,
    object_schema,
    span_of,
    span_schema,
    tuple_schema,
)
from workbench.records.jsontext import DAMAGED, OURS
from workbench.records.scalars import COUNT, Choice, Flag, Integer, Number, Schema, Text, Timestamp, mismatch

TABLE: Mapping[str, bool] = {"table": True}

Values = Sequence[Any]


class ColumnCodec(Protocol):
    """The codec of all values of one field: writes, reads and describes them."""

    def write(self, values: Values, place: str, columns: ColumnWriter, /) -> object:
        """Return the JSON form of the values."""

    def read(self, data: object, count: int, place: str, columns: ColumnReader, /) -> list[Any]:
        """Return `count` values of their JSON form."""

    def schema(self, defs: dict[str, Schema], /) -> Schema:
        """Return the schema of the JSON form."""


@dataclass(frozen=True, slots=True)
class Table:
    """A tuple of any length whose values are stored by columns."""

    codec: ColumnCodec

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        rows = checked_tuple(value, place)
        return {"rows": len(rows), "columns": self.codec.write(rows, place, columns)}

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        known = keyed(data, ("rows", "columns"), place)
        rows = Integer(0).check(known["rows"], f"{place}.rows", DAMAGED)
        return tuple(self.codec.read(known["columns"], rows, place, columns))

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return object_schema({"rows": COUNT, "columns": self.codec.schema(defs)})


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping, stored as the table of its keys and values."""

    table: Table

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        if not isinstance(value, Mapping):
            raise mismatch(place, "a mapping", value, OURS)
        return self.table.encode(tuple(value.items()), place, columns)

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        pairs: Any = self.table.decode(data, place, columns)
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            raise BundleError(f"{place}: a key occurs twice.", DAMAGED)
        return mapping

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return self.table.schema(defs)


@dataclass(frozen=True, slots=True)
class Scalars:
    """Floats; or texts, integers, flags, choices or times: one integer each."""

    shape: Text | Integer | Number | Flag | Choice | Timestamp

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        if isinstance(self.shape, Number):
            numbers = [self.shape.check(value, place, OURS) for value in values]
            return columns.add(NUMBERS, REAL, numbers, place, duration=self.shape.duration)
        if isinstance(self.shape, Integer | Flag):
            return _add_integers([self.shape.check(value, place, OURS) for value in values], place, columns)
        codes = {value: self._code(value, place, columns) for value in dict.fromkeys(values)}  # many repeats
        return _add_integers([codes[value] for value in values], place, columns)

    def _code(self, value: object, place: str, columns: ColumnWriter) -> int:
        checked = self.shape.encode(value, place, columns)
        if isinstance(self.shape, Choice):
            return self.shape.values.index(str(checked))
        return columns.text_code(str(checked))

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        if isinstance(self.shape, Number):
            start = _span(data, count, place)
            return columns.take(NUMBERS, REAL, start, count, place, duration=self.shape.duration).tolist()
        numbers = _integers(data, count, place, columns)
        if isinstance(self.shape, Integer):
            if numbers and not self.shape.minimum <= min(numbers) <= max(numbers):
                raise BundleError(f"{place}: an integer below {self.shape.minimum}.", DAMAGED)
            return numbers
        table = self.shape.values if isinstance(self.shape, Flag | Choice) else columns.texts
        if numbers and not 0 <= min(numbers) <= max(numbers) < len(table):
            raise BundleError(f"{place}: a number that stands for nothing.", DAMAGED)
        values = [table[number] for number in numbers]
        if isinstance(self.shape, Timestamp):
            for text in values:
                self.shape.check(text, place, DAMAGED)
        return values

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return _span_schema(defs)


_FLAGS, _TEXTS, _INTEGERS = Scalars(Flag()), Scalars(Text()), Scalars(Integer())


@dataclass(frozen=True, slots=True)
class Optional:
    """Optional values: one flag each, then the present values."""

    inner: ColumnCodec

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        there = [value for value in values if value is not None]
        present = _FLAGS.write([value is not None for value in values], place, columns)
        return {"present": present, "values": self.inner.write(there, place, columns)}

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        known = keyed(data, ("present", "values"), place)
        present = _FLAGS.read(known["present"], count, place, columns)
        there = iter(self.inner.read(known["values"], sum(present), place, columns))
        return [next(there) if is_there else None for is_there in present]

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return object_schema({"present": _span_schema(defs), "values": self.inner.schema(defs)})


@dataclass(frozen=True, slots=True)
class TextOrInteger:
    """Texts or integers: one flag each, then the texts, then the integers."""

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        is_text = [isinstance(value, str) for value in values]
        texts = [value for value in values if isinstance(value, str)]
        whole = [value for value in values if not isinstance(value, str)]
        return {
            "is_text": _FLAGS.write(is_text, place, columns),
            "texts": _TEXTS.write(texts, place, columns),
            "integers": _INTEGERS.write(whole, place, columns),
        }

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        known = keyed(data, ("is_text", "texts", "integers"), place)
        is_text = _FLAGS.read(known["is_text"], count, place, columns)
        texts = iter(_TEXTS.read(known["texts"], sum(is_text), place, columns))
        whole = iter(_INTEGERS.read(known["integers"], count - sum(is_text), place, columns))
        return [next(texts) if text else next(whole) for text in is_text]

    def schema(self, defs: dict[str, Schema]) -> Schema:
        span = _span_schema(defs)
        return object_schema({"is_text": span, "texts": span, "integers": span})


@dataclass(frozen=True, slots=True)
class Lists:
    """Tuples of any length: the length of each, then all items in a row."""

    inner: ColumnCodec

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        counts = _add_integers([len(checked_tuple(value, place)) for value in values], place, columns)
        return {"counts": counts, "items": self.inner.write(list(chain(*values)), place, columns)}

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        known = keyed(data, ("counts", "items"), place)
        counts = _integers(known["counts"], count, place, columns)
        if counts and min(counts) < 0:
            raise BundleError(f"{place}: a negative number of items.", DAMAGED)
        items = self.inner.read(known["items"], sum(counts), place, columns)
        edges = accumulate(counts, initial=0)
        return [tuple(items[start:stop]) for start, stop in pairwise(edges)]

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return object_schema({"counts": _span_schema(defs), "items": self.inner.schema(defs)})


@dataclass(frozen=True, slots=True)
class Fixed:
    """Tuples of one length: one codec per position."""

    codecs: tuple[ColumnCodec, ...]

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        rows = [checked_tuple(value, place, len(self.codecs)) for value in values]
        return [
            codec.write([row[at] for row in rows], f"{place}[{at}]", columns)
            for at, codec in enumerate(self.codecs)
        ]

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        pairs = enumerate(zip(self.codecs, checked_list(data, place, len(self.codecs)), strict=True))
        columns_read = [codec.read(part, count, f"{place}[{at}]", columns) for at, (codec, part) in pairs]
        return list(zip(*columns_read, strict=True))

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return tuple_schema([codec.schema(defs) for codec in self.codecs])


@dataclass(frozen=True, slots=True)
class Structs:
    """Frozen dataclasses: one codec per field."""

    cls: type
    codecs: Mapping[str, ColumnCodec]

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        for value in values:
            if type(value) is not self.cls:
                raise mismatch(place, f"a {self.cls.__name__}", value, OURS)
        return {
            name: codec.write([getattr(value, name) for value in values], f"{place}.{name}", columns)
            for name, codec in self.codecs.items()
        }

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        known = keyed(data, tuple(self.codecs), place)
        values = [
            codec.read(known[name], count, f"{place}.{name}", columns) for name, codec in self.codecs.items()
        ]
        return list(map(self.cls, *values))

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return object_schema({name: codec.schema(defs) for name, codec in self.codecs.items()})


def _add_integers(numbers: list[int], place: str, columns: ColumnWriter) -> object:
    return columns.add(INTEGERS, WHOLE, numbers, place)


def _integers(data: object, count: int, place: str, columns: ColumnReader) -> list[int]:
    return columns.take(INTEGERS, WHOLE, _span(data, count, place), count, place).tolist()


def _span(data: object, count: int, place: str) -> int:
    start, stored = span_of(data, place)
    if stored != count:
        raise BundleError(f"{place}: {stored} values where {count} were expected.", DAMAGED)
    return start


def _span_schema(defs: dict[str, Schema]) -> Schema:
    defs["Span"] = span_schema("columns/integers.npy, or of columns/numbers.npy")
    return {"$ref": "#/$defs/Span"}
