"""Single values: how each is written to JSON, read back strictly, and described in a JSON schema."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Protocol

from workbench.core.bundle import limits
from workbench.core.bundle.columns import ColumnReader, ColumnWriter
from workbench.core.bundle.jsontext import DAMAGED, OURS, name_type
from workbench.core.errors import BundleError
from workbench.core.text import quoted

NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
Schema = dict[str, object]
COUNT: Schema = {"type": "integer", "minimum": 0}


class Shape(Protocol):
    """The codec of one type: writes, reads and describes its values."""

    def encode(self, value: object, place: str, columns: ColumnWriter, /) -> object:
        """Return the JSON form of `value`."""

    def decode(self, data: object, place: str, columns: ColumnReader, /) -> object:
        """Return the value of its JSON form; a BundleError names the `place` of a mismatch."""

    def schema(self, defs: dict[str, Schema], /) -> Schema:
        """Return the JSON schema of the type; add named parts to `defs`."""


def mismatch(place: str, expected: str, value: object, fix: str) -> BundleError:
    """Return the error about a value of the wrong type or range; `place` is its position in the record."""
    got = quoted(value) if isinstance(value, int | float) else name_type(value)
    if isinstance(value, str):
        got += f" ({quoted(value)})"
    return BundleError(f"{place}: expected {expected}, got {got}.", fix)


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value that the JSON holds unchanged; encoding and decoding make the same checks."""

    def encode(self, value: object, place: str, _columns: ColumnWriter) -> object:
        """Return the JSON form of `value`."""
        return self.check(value, place, OURS)

    def decode(self, data: object, place: str, _columns: ColumnReader) -> object:
        """Return the value of its JSON form."""
        return self.check(data, place, DAMAGED)

    def check(self, value: object, place: str, fix: str) -> object:
        """Return `value`, or raise a BundleError that names `place` and `fix`."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Text(Scalar):
    """Any text. Writing replaces what UTF-8 cannot encode (half a surrogate pair) by a question mark."""

    def encode(self, value: object, place: str, _columns: ColumnWriter) -> object:
        clean = value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
        return self.check(clean, place, OURS)

    def check(self, value: object, place: str, fix: str) -> object:
        if not isinstance(value, str):
            raise mismatch(place, "a text", value, fix)
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise BundleError(f"{place}: a text that is not valid Unicode ({error.reason}).", fix) from error
        return value

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {"type": "string"}


@dataclass(frozen=True, slots=True)
class Timestamp(Scalar):
    """A time as ISO 8601 text, by which the history sorts and filters."""

    def check(self, value: object, place: str, fix: str) -> object:
        if not isinstance(value, str):
            raise mismatch(place, "a time as text", value, fix)
        try:
            datetime.fromisoformat(value)
        except ValueError as error:
            raise mismatch(place, "a time like 2026-01-31T12:00:00+00:00", value, fix) from error
        return value

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {"type": "string", "description": "ISO 8601"}


@dataclass(frozen=True, slots=True)
class Flag(Scalar):
    """True or false; 0 and 1 are refused."""

    values: ClassVar[tuple[bool, bool]] = (False, True)

    def check(self, value: object, place: str, fix: str) -> bool:
        if not isinstance(value, bool):
            raise mismatch(place, "true or false", value, fix)
        return value

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Integer(Scalar):
    """A 64-bit integer, not below `minimum`."""

    minimum: int = -limits.INTEGER

    def check(self, value: object, place: str, fix: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise mismatch(place, "an integer", value, fix)
        if not self.minimum <= value <= limits.INTEGER:
            expected = f"an integer from {self.minimum} to {limits.INTEGER}"
            raise BundleError(f"{place}: expected {expected}, got another.", fix)
        return value

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {"type": "integer", "minimum": self.minimum, "maximum": limits.INTEGER}


@dataclass(frozen=True, slots=True)
class Number(Scalar):
    """A float. A duration is finite and not negative; other floats may be non-finite, written as text."""

    duration: bool = False

    def encode(self, value: object, place: str, _columns: ColumnWriter) -> object:
        number = self.check(value, place, OURS)
        if math.isfinite(number):
            return number
        return "nan" if math.isnan(number) else "inf" if number > 0 else "-inf"

    def decode(self, data: object, place: str, _columns: ColumnReader) -> object:
        return self.check(NON_FINITE.get(data, data) if isinstance(data, str) else data, place, DAMAGED)

    def check(self, value: object, place: str, fix: str) -> float:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise mismatch(place, "a number", value, fix)
        if isinstance(value, int) and abs(value) > limits.INTEGER:
            raise BundleError(f"{place}: expected a number, got an integer too large for one.", fix)
        if self.duration and not 0 <= value < math.inf:
            raise mismatch(place, "zero or more seconds", value, fix)
        return float(value)

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        if self.duration:
            return {"type": "number", "minimum": 0}
        return {"anyOf": [{"type": "number"}, {"enum": list(NON_FINITE)}]}


@dataclass(frozen=True, slots=True)
class Choice(Scalar):
    """One of a few texts."""

    values: tuple[str, ...]

    def check(self, value: object, place: str, fix: str) -> object:
        if not isinstance(value, str) or value not in self.values:
            raise mismatch(place, f"one of {', '.join(map(repr, self.values))}", value, fix)
        return value

    def schema(self, _defs: dict[str, Schema]) -> Schema:
        return {"enum": list(self.values)}
