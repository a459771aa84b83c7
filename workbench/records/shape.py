"""What every kind of value of a record can do: be written, be read back, be described."""

from __future__ import annotations

from typing import Protocol

from workbench.records.columns import ColumnReader, ColumnWriter
from workbench.records.scalars import Schema


class Shape(Protocol):
    """How values of one type are written, read and described."""

    def encode(self, value: object, place: str, columns: ColumnWriter, /) -> object:
        """What the JSON holds for `value`."""

    def decode(self, data: object, place: str, columns: ColumnReader, /) -> object:
        """The value that `data` stands for; a BundleError names the `place` of whatever does not fit."""

    def schema(self, defs: dict[str, Schema], /) -> Schema:
        """The JSON schema of it; parts with a name go into `defs`."""
