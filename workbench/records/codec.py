"""Frozen dataclasses to JSON data and back, strictly, from nothing but their type hints.

The same shape writes, reads and describes a field, so the three cannot drift apart. Units in names are
law: what ends in `_s` is a finite duration, `_bytes` and `_count` are not negative, `_utc` is a time.
A field that may be negative says so: `field(metadata={"signed": True})`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from typing import Any, Literal, Protocol, TypeVar, Union

from workbench.records.columns import ColumnReader, ColumnWriter
from workbench.records.compound import Fields, Foreign, Many, Maybe, Row, Tuple
from workbench.records.scalars import Choice, Flag, Integer, Moment, Number, Schema, Text

T = TypeVar("T")
_shapes: dict[type, Shape] = {}  # reading hints costs more than decoding a record


class Shape(Protocol):
    """How values of one type are written, read and described."""

    def encode(self, value: object, place: str, columns: ColumnWriter, /) -> object:
        """What the JSON holds for `value`."""

    def decode(self, data: object, place: str, columns: ColumnReader, /) -> object:
        """The value that `data` stands for; a BundleError names the `place` of whatever does not fit."""

    def schema(self, defs: dict[str, Schema], /) -> Schema:
        """The JSON schema of it; parts with a name go into `defs`."""


def encode(record: object, columns: ColumnWriter) -> object:
    """JSON data of `record`; its rows of numbers go to `columns`."""
    return shape_of_class(type(record)).encode(record, "", columns)


def decode(cls: type[T], data: object, columns: ColumnReader) -> T:
    """The record of class `cls` that `data` stands for; every number in `columns` must be used once."""
    record = shape_of_class(cls).decode(data, "", columns)
    columns.finish()
    return typing.cast(T, record)


def shape_of_class(cls: type) -> Shape:
    """The shape of a dataclass, or of a class that brings its own `to_dict` and `from_dict`."""
    if cls not in _shapes:
        _shapes[cls] = _read_hints(cls)
    return _shapes[cls]


def _read_hints(cls: type) -> Shape:
    if hasattr(cls, "to_dict") and hasattr(cls, "from_dict"):
        return Foreign(cls)
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"A record cannot hold {cls.__name__}: use a frozen dataclass.")
    hints = typing.get_type_hints(cls)
    shapes = {
        field.name: _shape(hints[field.name], field.name, cls.__name__, bool(field.metadata.get("signed")))
        for field in dataclasses.fields(cls)
    }
    return Fields(cls, shapes)


def _shape(hint: Any, name: str, owner: str, signed: bool) -> Shape:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType) and len(arguments) == 2 and type(None) in arguments:
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return Maybe(_shape(inner, name, owner, signed))
    if origin is Literal:
        return Choice(arguments)
    if hint == tuple[float, ...]:
        return Row(f"{owner}.{name}", duration=name.endswith("_s") and not signed)
    if origin is tuple and arguments[-1] is Ellipsis:
        return Many(_shape(arguments[0], name, owner, signed))
    if origin is tuple:
        return Tuple(tuple(_shape(argument, name, owner, signed) for argument in arguments))
    if hint is str:
        return Moment() if name.endswith("_utc") else Text()
    if hint is bool:
        return Flag()
    if hint is int:
        return Integer(0) if name.endswith(("_s", "_bytes", "_count")) and not signed else Integer()
    if hint is float:
        return Number(duration=name.endswith("_s") and not signed)
    if isinstance(hint, type):
        return shape_of_class(hint)
    raise TypeError(f"{owner}.{name}: a record cannot hold {hint}.")
