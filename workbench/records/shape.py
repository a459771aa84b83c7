"""The interface of all values of a record: writing, reading and describing."""

from __future__ import annotations

from typing import Protocol

from workbench.records.columns import ColumnReader, ColumnWriter
from workbench.records.scalars import Schema


class Shape(Protocol):
    """The codec of one type: writes, reads and describes its values."""

    def encode(self, value: object, place: str, columns: ColumnWriter, /) -> object:
        """Return the JSON form of `value`."""

    def decode(self, data: object, place: str, columns: ColumnReader, /) -> object:
        """Return the value of its JSON form; a BundleError names the `place` of a mismatch."""

    def schema(self, defs: dict[str, Schema], /) -> Schema:
        """Return the JSON schema of the type; add named parts to `defs`."""
