"""Strict conversion of frozen dataclasses to JSON data and back, driven by their type hints alone.

One shape writes, reads and describes a field, so the three cannot differ. A suffix of a name is a rule:
`_s` is a finite duration, `_bytes` and `_count` are not negative, `_utc` is a time. The mark of a field
that may be negative is `field(metadata={"signed": True})`.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeVar, Union

from workbench.core.bundle import limits
from workbench.core.bundle.columns import ColumnReader, ColumnWriter
from workbench.core.bundle.compound import Blob, Column, Custom, Fields, FloatTuple, Maybe, Sequence, Tuple
from workbench.core.bundle.scalars import Choice, Flag, Integer, Number, Shape, Text, Timestamp
from workbench.core.bundle.tables import (
    TEXT_OR_INTEGER,
    ColumnCodec,
    Fixed,
    Lists,
    Pairs,
    Scalars,
    Structs,
    Table,
    optional,
)

T = TypeVar("T")
_shapes: dict[type, Shape] = {}  # cached: reading type hints costs more than decoding a record


def encode(record: object, columns: ColumnWriter) -> object:
    """Return the JSON data of `record`; write its rows of numbers to `columns`."""
    return shape_of_class(type(record)).encode(record, "", columns)


def decode(cls: type[T], data: object, columns: ColumnReader) -> T:
    """Return the record of class `cls` in `data`; refuse unused or reused numbers in `columns`."""
    record = shape_of_class(cls).decode(data, "", columns)
    columns.finish()
    return typing.cast(T, record)


def shape_of_class(cls: type) -> Shape:
    """Return the shape of a dataclass, or of a class with its own `to_dict` and `from_dict`."""
    if cls not in _shapes:
        _shapes[cls] = _read_hints(cls)
    return _shapes[cls]


def _read_hints(cls: type) -> Shape:
    if hasattr(cls, "to_dict") and hasattr(cls, "from_dict"):
        return Custom(cls)
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"A record cannot hold {cls.__name__}: use a frozen dataclass.")
    return Fields(cls, {name: _shape(hint, place) for name, hint, place in _fields(cls)})


@dataclasses.dataclass(frozen=True, slots=True)
class _Place:
    """The properties of a field that its shape depends on: its unit and its marks."""

    owner: str
    name: str
    signed: bool
    table: bool

    @property
    def duration(self) -> bool:
        return self.name.endswith("_s") and not self.signed

    @property
    def least(self) -> int:
        counts = self.name.endswith(("_s", "_bytes", "_count")) and not self.signed
        return 0 if counts else -limits.INTEGER


def _fields(cls: type) -> Iterator[tuple[str, Any, _Place]]:
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        signed, table = (bool(field.metadata.get(mark)) for mark in ("signed", "table"))
        yield field.name, hints[field.name], _Place(cls.__name__, field.name, signed, table)


def _shape(hint: Any, place: _Place) -> Shape:
    hint = _without_alias(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    inner = _without_none(hint)
    if inner is not None:
        return Maybe(_shape(inner, place))
    if origin is tuple and place.table and arguments[-1] is Ellipsis:
        return Table(_column_codec(arguments[0], place))
    if origin is Mapping and place.table:
        return Pairs(Table(Fixed(tuple(_column_codec(argument, place) for argument in arguments))))
    if hint == tuple[float, ...]:
        return FloatTuple(f"{place.owner}.{place.name}", duration=place.duration)
    if origin is tuple and arguments[-1] is Ellipsis:
        return Sequence(_shape(arguments[0], place))
    if origin is tuple:
        return Tuple(tuple(_shape(argument, place) for argument in arguments))
    if hint is bytes:
        return Blob()
    if (dtype := _array_of(hint)) is not None:
        return Column(f"{place.owner}.{place.name}", dtype)
    scalar = _scalar(hint, place)
    if scalar is not None:
        return scalar
    if isinstance(hint, type):
        return shape_of_class(hint)
    raise TypeError(f"{place.owner}.{place.name}: a record cannot hold {hint}.")


def _column_codec(hint: Any, place: _Place) -> ColumnCodec:
    """Return the codec that a table uses for all values of one field."""
    hint = _without_alias(hint)
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    inner = _without_none(hint)
    if inner is not None:
        return optional(_column_codec(inner, place))
    if origin in (Union, types.UnionType) and set(arguments) == {int, str}:
        return TEXT_OR_INTEGER
    if origin is tuple and arguments[-1] is Ellipsis:
        return Lists(_column_codec(arguments[0], place))
    if origin is tuple:
        return Fixed(tuple(_column_codec(argument, place) for argument in arguments))
    scalar = _scalar(hint, place)
    if scalar is not None:
        return Scalars(scalar)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return Structs(hint, {name: _column_codec(inner, field) for name, inner, field in _fields(hint)})
    raise TypeError(f"{place.owner}.{place.name}: a table cannot hold {hint}.")


def _scalar(hint: Any, place: _Place) -> Timestamp | Text | Flag | Integer | Number | Choice | None:
    if typing.get_origin(hint) is Literal:
        return Choice(typing.get_args(hint))
    if hint is str:
        return Timestamp() if place.name.endswith("_utc") else Text()
    if hint is bool:
        return Flag()
    if hint is int:
        return Integer(place.least)
    if hint is float:
        return Number(duration=place.duration)
    return None


def _array_of(hint: Any) -> str | None:
    """Return the element type of a numpy array from its hint `npt.NDArray[…]`."""
    origin = typing.get_origin(hint)
    if getattr(origin, "__module__", "") != "numpy" or getattr(origin, "__name__", "") != "ndarray":
        return None
    (number,) = typing.get_args(typing.get_args(hint)[1])
    return str(number.__name__)


def _without_alias(hint: Any) -> Any:
    """Return the type that a type alias stands for, as `NDArray` of numpy 2.5; any other hint as it is."""
    alias = typing.get_origin(hint) or hint
    if not hasattr(alias, "__type_params__") or not hasattr(alias, "__value__"):
        return hint
    given = dict(zip(alias.__type_params__, typing.get_args(hint), strict=True))
    wanted = getattr(alias.__value__, "__parameters__", ())
    value = alias.__value__[tuple(given[name] for name in wanted)] if wanted else alias.__value__
    return _without_alias(value)


def _without_none(hint: Any) -> Any:
    """Return the type that a hint allows besides None; None if the hint does not allow None."""
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return None
    arguments = typing.get_args(hint)
    rest = tuple(argument for argument in arguments if argument is not type(None))
    return functools.reduce(operator.or_, rest) if len(rest) < len(arguments) else None
