"""Long rows of numbers outside the JSON: two `.npy` files and one of bytes, whose values come in the order
of the record.

Seconds off a clock are whole nanoseconds: where that is true of all numbers, their file holds the integers,
which compress to half. The files are written and read by hand: no numpy import, no evaluation.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core.bundle import limits
from workbench.core.bundle.limits import DAMAGED
from workbench.core.config.foreign import ForeignPath, without_secrets
from workbench.core.errors import BundleError

REAL, WHOLE, BYTES = "d", "q", "B"  # the array module's codes of float64, int64 and bytes
FILES = {REAL: "numbers.npy", WHOLE: "integers.npy", BYTES: "bytes.bin"}
NANOSECONDS = "nanoseconds.npy"  # in place of numbers.npy
_CODES = {name: code for code, name in FILES.items()} | {NANOSECONDS: WHOLE}
_PER_SECOND = 1e9
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '<([fi]8)', 'fortran_order': False, 'shape': \((0|[1-9][0-9]{0,8}),\), \} *\n", re.ASCII
)
_KINDS = {REAL: b"f8", WHOLE: b"i8"}


class Columns:
    """All numbers of a record by type, written one row after the other and read once, in the same order."""

    def __init__(
        self,
        rows: Mapping[str, array[Any]] | None = None,
        foreign: list[ForeignPath] | None = None,
        secrets: set[str] | None = None,
    ) -> None:
        """`foreign` collects the paths that configs name and marks them; None: the file is the user's own.

        `secrets` collects what is hidden in configs that are written.
        """
        self._rows = {code: array(code) for code in FILES} | dict(rows or {})
        self._taken = dict.fromkeys(FILES, 0)
        self._names = dict(FILES)
        self.foreign = foreign
        self.secrets = set[str]() if secrets is None else secrets
        self.written = False  # a config that was just written need not be made again

    def hide(self, config: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON of a config without its secrets, and remember them."""
        data, secrets = without_secrets(config)
        self.secrets |= secrets
        return data

    def as_written(self) -> Columns:
        """Return the same numbers, to check what was written."""
        same = Columns(self._rows)
        same.written = True
        return same

    def add(self, code: str, values: Sequence[float] | bytes) -> int:
        """Append numbers, or their bytes in this machine's order; return how many they are."""
        row = array(code, values)
        self._rows[code].extend(row)
        if code != BYTES and sum(len(self._rows[kind]) for kind in _KINDS) > limits.SAMPLES:
            raise BundleError(
                f"The record holds more than {limits.SAMPLES:,} samples.",
                "Measure with a smaller budget_s, or with pacing_s, and save that.",
            )
        return len(row)

    def take(self, code: str, count: object) -> Any:
        """Return the next `count` numbers."""
        start, row = self._taken[code], self._rows[code]
        if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= len(row) - start:
            raise ValueError(f"expected the next of {len(row)} values of {self._names[code]}")
        self._taken[code] += count
        part = row[start : start + count]
        return part.tobytes() if code == BYTES else part

    def finish(self) -> None:
        """Refuse numbers that nothing used."""
        for code, row in self._rows.items():
            if self._taken[code] != len(row):
                raise BundleError(f"{self._names[code]}: value {self._taken[code]} is not used.", DAMAGED)

    def members(self) -> dict[str, bytes]:
        """Return the files of what there is."""
        files = {}
        for code, row in self._rows.items():
            whole = in_nanoseconds(row) if code == REAL and row else None
            if whole is not None:
                files[NANOSECONDS] = to_npy(whole)
            elif row:
                files[FILES[code]] = row.tobytes() if code == BYTES else to_npy(row)
        return files

    @classmethod
    def of(cls, members: Mapping[str, bytes], foreign: list[ForeignPath] | None = None) -> Columns:
        """Return the numbers in files."""
        rows = {code: from_npy(members[name], name) for code, name in FILES.items() if name in members}
        if NANOSECONDS not in members:
            return cls(rows, foreign)
        if REAL in rows:
            raise BundleError(f"It has both {FILES[REAL]} and {NANOSECONDS}.", DAMAGED)
        columns = cls(rows | {REAL: in_seconds(from_npy(members[NANOSECONDS], NANOSECONDS))}, foreign)
        columns._names[REAL] = NANOSECONDS
        return columns


def in_nanoseconds(seconds: array[Any]) -> array[Any] | None:
    """Return the numbers as whole nanoseconds; None if that would change the last bit of one."""
    try:
        whole = array(WHOLE, (round(value * _PER_SECOND) for value in seconds))
    except (OverflowError, ValueError):  # too large, infinite or not a number
        return None
    return whole if in_seconds(whole).tobytes() == seconds.tobytes() else None


def in_seconds(nanoseconds: array[Any]) -> array[Any]:
    """Return the float64 that is nearest to each."""
    return array(REAL, (value / _PER_SECOND for value in nanoseconds))


def to_npy(column: array[Any]) -> bytes:
    """Return the `.npy` file of a column."""
    kind = _KINDS[column.typecode].decode()
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(column)},), }}".encode()
    header += b" " * (-(len(_MAGIC) + 2 + len(header) + 1) % 64) + b"\n"  # numpy's alignment of the data
    return _MAGIC + len(header).to_bytes(2, "little") + header + _little_endian(column).tobytes()


def from_npy(blob: bytes, name: str) -> array[Any]:
    """Return the column in the file called `name`; one that is no `.npy` holds bytes."""
    code = _CODES[name]
    if code == BYTES:
        return array(BYTES, blob)
    start = len(_MAGIC) + 2
    stop = start + int.from_bytes(blob[len(_MAGIC) : start], "little")
    header = _HEADER.fullmatch(blob, start, min(stop, len(blob)))
    fits = header is not None and header[1] == _KINDS[code] and stop + 8 * int(header[2]) == len(blob)
    if not blob.startswith(_MAGIC) or not fits:
        kind = "float64" if code == REAL else "int64"
        raise BundleError(f"{name} is not a one-dimensional {kind} .npy file of its own length.", DAMAGED)
    column: array[Any] = array(code)
    column.frombytes(memoryview(blob)[stop:])
    return _little_endian(column)


def _little_endian(column: array[Any]) -> array[Any]:
    if sys.byteorder == "little":
        return column
    swapped = array(column.typecode, column)
    swapped.byteswap()
    return swapped
