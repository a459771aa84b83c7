"""Long rows of numbers and repeated texts outside the JSON: `.npy` files and one list of texts.

The files are written and read by hand: no numpy import, no evaluation.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Mapping, Sequence
from typing import Any

from workbench.core.bundle import limits
from workbench.core.bundle.jsontext import DAMAGED, OURS
from workbench.core.config.foreign import ForeignPath
from workbench.core.errors import BundleError

REAL, WHOLE = "d", "q"  # the array module's codes of float64 and int64
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '<([fi]8)', 'fortran_order': False, 'shape': \((0|[1-9][0-9]{0,8}),\), \} *\n", re.ASCII
)
_CODES = {"f8": REAL, "i8": WHOLE}
TYPES = {REAL: "float64", WHOLE: "int64"}
INTEGERS, NUMBERS = "integers", "numbers"  # the columns of tables
_NOUNS = {REAL: "numbers", WHOLE: "integers of 64 bits"}


class ColumnWriter:
    """A collector of rows, texts and blobs; each is addressed by its position."""

    def __init__(self) -> None:
        self._columns: dict[str, array[Any]] = {}
        self._codes: dict[str, int] = {}
        self._blobs: list[bytes] = []
        self._count = 0

    def add(
        self, name: str, code: str, values: Sequence[float] | bytes, place: str, *, duration: bool = False
    ) -> dict[str, int]:
        """Append numbers, or their bytes in this machine's order, to column `name`; return the reference."""
        try:
            row = array(code, values)
        except (TypeError, OverflowError) as error:
            raise BundleError(f"{place}: expected only {_NOUNS[code]} ({error}).", OURS) from error
        if duration:
            _check_durations(row, place, OURS)
        column = self._columns.setdefault(name, array(code))
        start = len(column)
        column.extend(row)
        self._count += len(row)
        if self._count > limits.SAMPLES:
            raise BundleError(
                f"The record holds more than {limits.SAMPLES:,} samples.",
                "Measure with a smaller budget_s, or with pacing_s, and save that.",
            )
        return {"start": start, "count": len(row)}

    def text_code(self, text: str) -> int:
        """Return the number of a text; store equal texts once."""
        return self._codes.setdefault(text, len(self._codes))

    def add_blob(self, blob: bytes) -> int:
        """Store bytes as a separate member; return its number."""
        self._blobs.append(blob)
        return len(self._blobs) - 1

    @property
    def texts(self) -> list[str]:
        """Return all texts in the order of their numbers."""
        return list(self._codes)

    def members(self) -> dict[str, bytes]:
        """Return the file of each column and of each blob."""
        columns = {member_name(name): to_npy(column) for name, column in self._columns.items()}
        return columns | {blob_name(number): blob for number, blob in enumerate(self._blobs)}


class ColumnReader:
    """A supplier of stored rows that checks that each stored number is used exactly once.

    Without this check, a small file could request the same million samples a million times.
    """

    def __init__(
        self,
        members: Mapping[str, bytes],
        texts: Sequence[str] = (),
        foreign: list[ForeignPath] | None = None,
    ) -> None:
        """`foreign` collects the paths that configs name and marks them; None: the file is the user's own."""
        columns = {name: blob for name, blob in members.items() if name.endswith(".npy")}
        self._columns = {name: from_npy(blob, name) for name, blob in columns.items()}
        self._spans: dict[str, list[tuple[int, int]]] = {name: [] for name in columns}
        self._left = {name: len(column) for name, column in self._columns.items()}
        self._blobs = {name: blob for name, blob in members.items() if name not in columns}
        self.texts = texts
        self.foreign = foreign

    def take_blob(self, number: int, place: str) -> bytes:
        """Return the blob with this number; refuse a second use."""
        blob = self._blobs.pop(blob_name(number), None)
        if blob is None:
            raise BundleError(f"{place}: the file has no {blob_name(number)}, or it is used twice.", DAMAGED)
        return blob

    def finish(self) -> None:
        """Refuse numbers that no row uses, or that several rows use."""
        if self._blobs:
            raise BundleError(f"{min(self._blobs)} is not used.", DAMAGED)
        for member, spans in self._spans.items():
            reached = 0
            for start, stop in sorted(span for span in spans if span[0] < span[1]):
                if start != reached:
                    raise BundleError(f"{member}: value {min(start, reached)} is not used once.", DAMAGED)
                reached = stop
            if reached != len(self._columns[member]):
                raise BundleError(f"{member}: value {reached} is not used once.", DAMAGED)

    def take(
        self, name: str, code: str, start: int, count: int, place: str, *, duration: bool = False
    ) -> array[Any]:
        """Return `count` numbers of column `name`, starting at `start`."""
        member = member_name(name)
        column = self._columns.get(member)
        if column is None:
            raise BundleError(f"{place}: the file has no {member}.", DAMAGED)
        if column.typecode != code:
            raise BundleError(f"{place}: {member} does not hold {TYPES[code]}.", DAMAGED)
        self._left[member] -= count
        if start < 0 or count < 0 or start + count > len(column) or self._left[member] < 0:
            raise BundleError(
                f"{place}: values {start} to {start + count} of {member}, which holds {len(column)}.", DAMAGED
            )
        self._spans[member].append((start, start + count))
        row = column[start : start + count]
        if duration:
            _check_durations(row, place, DAMAGED)
        return row


def member_name(column: str) -> str:
    """Return the name of the zip member that holds `column`."""
    return f"columns/{column}.npy"


def blob_name(number: int) -> str:
    """Return the name of the zip member that holds a blob."""
    return f"blobs/{number}.bin"


def to_npy(column: array[Any]) -> bytes:
    """Return the `.npy` file of a column."""
    kind = next(kind for kind, code in _CODES.items() if code == column.typecode)
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': ({len(column)},), }}".encode()
    header += b" " * (-(len(_MAGIC) + 2 + len(header) + 1) % 64) + b"\n"  # numpy's alignment of the data
    return _MAGIC + len(header).to_bytes(2, "little") + header + _little_endian(column).tobytes()


def from_npy(blob: bytes, name: str) -> array[Any]:
    """Return the column in a file; `name` is its name in errors."""
    start = len(_MAGIC) + 2
    stop = start + int.from_bytes(blob[len(_MAGIC) : start], "little")
    header = _HEADER.fullmatch(blob, start, min(stop, len(blob)))
    if not blob.startswith(_MAGIC) or header is None or stop + 8 * int(header[2]) != len(blob):
        raise BundleError(
            f"{name} is not a one-dimensional float64 or int64 .npy file of its own length.", DAMAGED
        )
    column: array[Any] = array(_CODES[header[1].decode("ascii")])
    column.frombytes(memoryview(blob)[stop:])
    return _little_endian(column)


def _little_endian(column: array[Any]) -> array[Any]:
    if sys.byteorder == "little":
        return column
    swapped = array(column.typecode, column)
    swapped.byteswap()
    return swapped


def _check_durations(values: array[Any], place: str, fix: str) -> None:
    if all(map(math.isfinite, values)) and (not values or min(values) >= 0):
        return
    index = next(at for at, value in enumerate(values) if not 0 <= value < math.inf)
    raise BundleError(
        f"{place}[{index}]: expected a duration of zero or more seconds, got {values[index]}.", fix
    )
