"""Compound values: how each is written to JSON, read back strictly, and described in a JSON schema."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cache
from typing import Any

from workbench.core.bundle.columns import REAL, TYPES, WHOLE, ColumnReader, ColumnWriter
from workbench.core.bundle.jsontext import DAMAGED, OURS
from workbench.core.bundle.scalars import COUNT, Integer, Number, Schema, Shape, Text, mismatch
from workbench.core.config import Config
from workbench.core.config.foreign import quarantined
from workbench.core.errors import BundleError, WorkbenchError
from workbench.core.text import quoted


@dataclass(frozen=True, slots=True)
class Maybe:
    """A value, or null if absent."""

    inner: Shape

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        return None if value is None else self.inner.encode(value, place, columns)

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        return None if data is None else self.inner.decode(data, place, columns)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"anyOf": [self.inner.schema(defs), {"type": "null"}]}


@dataclass(frozen=True, slots=True)
class Sequence:
    """A tuple of any length whose values have one type."""

    inner: Shape

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        items = enumerate(checked_tuple(value, place))
        return [self.inner.encode(item, f"{place}[{at}]", columns) for at, item in items]

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        items = enumerate(checked_list(data, place))
        return tuple(self.inner.decode(item, f"{place}[{at}]", columns) for at, item in items)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"type": "array", "items": self.inner.schema(defs)}


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of fixed length."""

    items: tuple[Shape, ...]

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        pairs = enumerate(zip(self.items, checked_tuple(value, place, len(self.items)), strict=True))
        return [shape.encode(item, f"{place}[{at}]", columns) for at, (shape, item) in pairs]

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        pairs = enumerate(zip(self.items, checked_list(data, place, len(self.items)), strict=True))
        return tuple(shape.decode(item, f"{place}[{at}]", columns) for at, (shape, item) in pairs)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return tuple_schema([item.schema(defs) for item in self.items])


@dataclass(frozen=True, slots=True)
class FloatTuple:
    """A tuple of floats of any length; the JSON holds only its position in the column."""

    column: str
    duration: bool

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        return columns.add(self.column, REAL, checked_tuple(value, place), place, duration=self.duration)

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        start, count = span_of(data, place)
        return tuple(columns.take(self.column, REAL, start, count, place, duration=self.duration))

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return span_schema(f"columns/{self.column}.npy")


@dataclass(frozen=True, slots=True)
class Column:
    """A one-dimensional numpy array; the JSON holds only its position in the column."""

    column: str
    dtype: str  # numpy's name of the type in memory; the file holds int64 or float64

    @property
    def code(self) -> str:
        return WHOLE if self.dtype.startswith("int") else REAL

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        import numpy as np

        if not isinstance(value, np.ndarray) or value.ndim != 1 or value.dtype != self.dtype:
            raise mismatch(place, f"an array of {self.dtype}", value, OURS)
        return columns.add(self.column, self.code, value.astype(TYPES[self.code]).tobytes(), place)

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        import numpy as np

        start, count = span_of(data, place)
        stored = np.array(columns.take(self.column, self.code, start, count, place))
        numbers = stored.astype(self.dtype)
        if self.code == WHOLE and not np.array_equal(numbers, stored):
            raise BundleError(f"{place}: integers beyond {self.dtype}.", DAMAGED)
        numbers.flags.writeable = False
        return numbers

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return span_schema(f"columns/{self.column}.npy")


@dataclass(frozen=True, slots=True)
class Blob:
    """Bytes; the JSON holds the number of their member."""

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        if not isinstance(value, bytes):
            raise mismatch(place, "bytes", value, OURS)
        return columns.add_blob(value)

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        return columns.take_blob(Integer(0).check(data, place, DAMAGED), place)

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {**COUNT, "description": "n of blobs/n.bin"}


@dataclass(frozen=True, slots=True)
class Fields:
    """A frozen dataclass: a JSON object with its fields; a file from before one with a default lacks it."""

    cls: type
    fields: Mapping[str, Shape]

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        if type(value) is not self.cls:
            raise mismatch(place or "the record", f"a {self.cls.__name__}", value, OURS)
        return {
            name: shape.encode(getattr(value, name), _member(place, name), columns)
            for name, shape in self.fields.items()
        }

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        known = keyed(data, tuple(self.fields), place, _with_default(self.cls))
        return self.cls(
            **{
                name: shape.decode(known[name], _member(place, name), columns)
                for name, shape in self.fields.items()
                if name in known
            }
        )

    def schema(self, defs: dict[str, Schema]) -> Schema:
        name = self.cls.__name__
        if name not in defs:
            defs[name] = {}  # reserves the name while the fields are described
            parts = {field: shape.schema(defs) for field, shape in self.fields.items()}
            defs[name] = {
                "description": inspect.getdoc(self.cls),
                **object_schema(parts, _with_default(self.cls)),
            }
        return {"$ref": f"#/$defs/{name}"}


@dataclass(frozen=True, slots=True)
class Custom:
    """A class with its own strict `to_dict` and `from_dict`, such as Config."""

    cls: Any

    def encode(self, value: object, place: str, columns: ColumnWriter) -> object:
        if not isinstance(value, self.cls):
            raise mismatch(place, f"a {self.cls.__name__}", value, OURS)
        return _plain(value.to_dict(), place, columns)

    def decode(self, data: object, place: str, columns: ColumnReader) -> object:
        if not isinstance(data, dict):
            raise mismatch(place, "an object", data, DAMAGED)
        if columns.foreign is not None and self.cls is Config:
            data, paths = quarantined(data)
            columns.foreign += paths
        try:
            return self.cls.from_dict(data)
        except WorkbenchError as error:
            raise BundleError(f"{place}: {error.problem}", error.fix) from error

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {"type": "object", "description": f"What workbench.{self.cls.__name__}.from_dict takes"}


def checked_tuple(value: object, place: str, size: int | None = None) -> tuple[Any, ...]:
    """Return `value` if it is a tuple, of that size if one is given."""
    if not isinstance(value, tuple) or size not in (None, len(value)):
        raise mismatch(place, "a tuple" if size is None else f"a tuple of {size}", value, OURS)
    return value


def checked_list(data: object, place: str, size: int | None = None) -> list[Any]:
    """Return `data` if it is a list, of that size if one is given."""
    if not isinstance(data, list) or size not in (None, len(data)):
        raise mismatch(place, "a list" if size is None else f"a list of {size}", data, DAMAGED)
    return data


def keyed(
    data: object, names: tuple[str, ...], place: str, optional: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Return `data` if it is an object with exactly the keys `names`, of which it may lack some."""
    if not isinstance(data, dict):
        raise mismatch(place or "the record", "an object", data, DAMAGED)
    for what, keys in (
        ("lacks", set(names) - set(data) - optional),
        ("has an unknown", set(data) - set(names)),
    ):
        if keys:
            listed = ", ".join(quoted(key) for key in sorted(keys)[:5])
            raise BundleError(f"{place or 'the record'} {what} {listed}.", DAMAGED)
    return data


def span_of(data: object, place: str) -> tuple[int, int]:
    """Return where a row starts in its column, and how many values it has."""
    span = keyed(data, ("start", "count"), place)
    start = Integer(0).check(span["start"], f"{place}.start", DAMAGED)
    return start, Integer(0).check(span["count"], f"{place}.count", DAMAGED)


def _member(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def object_schema(parts: dict[str, Schema], optional: frozenset[str] = frozenset()) -> Schema:
    """Return the schema of an object with exactly these parts, of which it may lack some."""
    required = [name for name in parts if name not in optional]
    return {"type": "object", "properties": parts, "required": required, "additionalProperties": False}


def span_schema(columns: str) -> Schema:
    """Return the schema of the place of a row in `columns`."""
    row = object_schema({"start": COUNT, "count": COUNT})
    return {"description": f"Values start to start + count of {columns}", **row}


def tuple_schema(items: list[Schema]) -> Schema:
    """Return the schema of an array with exactly these items."""
    size = len(items)
    return {"type": "array", "prefixItems": items, "items": False, "minItems": size, "maxItems": size}


@cache
def _with_default(cls: type) -> frozenset[str]:
    """Return the fields of a dataclass that have a default, as one has that was added later."""
    return frozenset(field.name for field in fields(cls) if field.default is not MISSING)


def _plain(data: object, place: str, columns: ColumnWriter) -> object:
    """Return `data` with tuples as lists and cleaned texts; refuse what JSON cannot hold."""
    if isinstance(data, dict):
        return {
            str(Text().encode(key, place, columns)): _plain(item, _member(place, str(key)), columns)
            for key, item in data.items()
        }
    if isinstance(data, list | tuple):
        return [_plain(item, f"{place}[{at}]", columns) for at, item in enumerate(data)]
    if isinstance(data, str):
        return Text().encode(data, place, columns)
    if data is None or isinstance(data, bool):
        return data
    return (Integer() if isinstance(data, int) else Number()).encode(data, place, columns)
