"""Long rows of values, stored by columns: a graph of 12,000 nodes is a dozen rows of numbers, no JSON.

`field(metadata=TABLE)` marks a `tuple[X, ...]`. Each text is stored once, in texts.json, and the columns
hold its number; integers are in columns/integers.npy, other numbers in columns/numbers.npy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, compress, pairwise, repeat
from operator import not_
from types import NoneType
from typing import Any, Protocol

from workbench.core.bundle.columns import INTEGERS, NUMBERS, REAL, WHOLE, ColumnReader, ColumnWriter
from workbench.core.bundle.compound import (
    checked_list,
    checked_tuple,
    keyed,
    object_schema,
    span_of,
    span_schema,
    tuple_schema,
)
from workbench.core.bundle.jsontext import DAMAGED, OURS
from workbench.core.bundle.scalars import (
    COUNT,
    Choice,
    Flag,
    Integer,
    Number,
    Schema,
    Text,
    Timestamp,
    mismatch,
)
from workbench.core.errors import BundleError

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
            integers = [self.shape.check(value, place, OURS) for value in values]
        else:
            codes = {
                value: self._code(value, place, columns) for value in dict.fromkeys(values)
            }  # many repeats
            integers = [codes[value] for value in values]
        return columns.add(INTEGERS, WHOLE, integers, place)

    def _code(self, value: object, place: str, columns: ColumnWriter) -> int:
        checked = self.shape.encode(value, place, columns)
        if isinstance(self.shape, Choice):
            return self.shape.values.index(str(checked))
        return columns.text_code(str(checked))

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        start, stored = span_of(data, place)
        if stored != count:
            raise BundleError(f"{place}: {stored} values where {count} were expected.", DAMAGED)
        if isinstance(self.shape, Number):
            return columns.take(NUMBERS, REAL, start, count, place, duration=self.shape.duration).tolist()
        numbers = columns.take(INTEGERS, WHOLE, start, count, place).tolist()
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
        defs["Span"] = span_schema("columns/integers.npy, or of columns/numbers.npy")
        return {"$ref": "#/$defs/Span"}


_FLAGS, _TEXTS, _INTEGERS = Scalars(Flag()), Scalars(Text()), Scalars(Integer())


@dataclass(frozen=True, slots=True)
class Either:
    """Values of two kinds: one flag each, then those of the first kind, then those of type `second`.

    None needs no codec: the flags say where it stands.
    """

    flag: str
    second: type
    codecs: Mapping[str, ColumnCodec]

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        is_first = [not isinstance(value, self.second) for value in values]
        kinds = (compress(values, is_first), compress(values, map(not_, is_first)))
        parts = {self.flag: _FLAGS.write(is_first, place, columns)}
        for (name, codec), kind in zip(self.codecs.items(), kinds, strict=False):
            parts[name] = codec.write(list(kind), place, columns)
        return parts

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        known = keyed(data, (self.flag, *self.codecs), place)
        is_first = _FLAGS.read(known[self.flag], count, place, columns)
        counts = (sum(is_first), count - sum(is_first))
        kinds = [
            iter(codec.read(known[name], size, place, columns))
            for (name, codec), size in zip(self.codecs.items(), counts, strict=False)
        ]
        first, second = kinds if len(kinds) > 1 else (*kinds, repeat(None))
        return [next(first if flag else second) for flag in is_first]

    def schema(self, defs: dict[str, Schema]) -> Schema:
        parts = {self.flag: _FLAGS, **self.codecs}
        return object_schema({name: codec.schema(defs) for name, codec in parts.items()})


TEXT_OR_INTEGER = Either("is_text", int, {"texts": _TEXTS, "integers": _INTEGERS})


def optional(codec: ColumnCodec) -> Either:
    """Return the codec of optional values."""
    return Either("present", NoneType, {"values": codec})


@dataclass(frozen=True, slots=True)
class Lists:
    """Tuples of any length: the length of each, then all items in a row."""

    inner: ColumnCodec

    def write(self, values: Values, place: str, columns: ColumnWriter) -> object:
        counts = _INTEGERS.write([len(checked_tuple(value, place)) for value in values], place, columns)
        return {"counts": counts, "items": self.inner.write(list(chain(*values)), place, columns)}

    def read(self, data: object, count: int, place: str, columns: ColumnReader) -> list[Any]:
        known = keyed(data, ("counts", "items"), place)
        counts = _INTEGERS.read(known["counts"], count, place, columns)
        if counts and min(counts) < 0:
            raise BundleError(f"{place}: a negative number of items.", DAMAGED)
        items = self.inner.read(known["items"], sum(counts), place, columns)
        edges = accumulate(counts, initial=0)
        return [tuple(items[start:stop]) for start, stop in pairwise(edges)]

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return object_schema({"counts": _INTEGERS.schema(defs), "items": self.inner.schema(defs)})


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
