"""Long rows of numbers, kept out of the JSON: one little-endian float64 `.npy` file a kind of row.

Written and read by hand, because the format is one line of header: no numpy to import, nothing evaluated.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Sequence

from workbench.errors import BundleError
from workbench.records import limits
from workbench.records.jsontext import DAMAGED, OURS

_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '<f8', 'fortran_order': False, 'shape': \((0|[1-9][0-9]{0,8}),\), \} *\n", re.ASCII
)


class ColumnWriter:
    """Collects rows; each is named by its column and by where it stands there."""

    def __init__(self) -> None:
        self._columns: dict[str, array[float]] = {}

    def add(self, name: str, values: Sequence[float], place: str, *, duration: bool) -> dict[str, int]:
        """Append `values` to column `name`; what stands for them in the JSON."""
        column = self._columns.setdefault(name, array("d"))
        start = len(column)
        try:
            column.extend(array("d", values))
        except (TypeError, OverflowError) as error:
            raise BundleError(f"{place}: expected only numbers ({error}).", OURS) from error
        if duration:
            _check_durations(column[start:], place, OURS)
        if sum(map(len, self._columns.values())) > limits.SAMPLES:
            raise BundleError(
                f"The record holds more than {limits.SAMPLES:,} samples.",
                "Measure with a smaller budget_s, or with pacing_s, and save that.",
            )
        return {"start": start, "count": len(column) - start}

    def members(self) -> dict[str, bytes]:
        """The file of each column."""
        return {member_name(name): _to_npy(column) for name, column in self._columns.items()}


class ColumnReader:
    """Hands out rows, and sees to it that each stored number is used exactly once.

    Without that, a small file could ask for the same million samples a million times.
    """

    def __init__(self, members: dict[str, bytes]) -> None:
        self._columns = {name: _from_npy(blob, name) for name, blob in members.items()}
        self._spans: dict[str, list[tuple[int, int]]] = {name: [] for name in members}
        self._left = {name: len(column) for name, column in self._columns.items()}

    def take(self, name: str, start: int, count: int, place: str, *, duration: bool) -> tuple[float, ...]:
        """`count` values of column `name` from `start` on."""
        member = member_name(name)
        column = self._columns.get(member)
        if column is None:
            raise BundleError(f"{place}: the file has no {member}.", DAMAGED)
        self._left[member] -= count
        if start < 0 or count < 0 or start + count > len(column) or self._left[member] < 0:
            raise BundleError(
                f"{place}: values {start} to {start + count} of {member}, which holds {len(column)}.", DAMAGED
            )
        self._spans[member].append((start, start + count))
        row = column[start : start + count]
        if duration:
            _check_durations(row, place, DAMAGED)
        return tuple(row)

    def finish(self) -> None:
        """Refuse numbers that no row, or more than one row, used."""
        for member, spans in self._spans.items():
            reached = 0
            for start, stop in sorted(span for span in spans if span[0] < span[1]):
                if start != reached:
                    raise BundleError(f"{member}: value {min(start, reached)} is not used once.", DAMAGED)
                reached = stop
            if reached != len(self._columns[member]):
                raise BundleError(f"{member}: value {reached} is not used once.", DAMAGED)


def member_name(column: str) -> str:
    """The zip member that holds `column`."""
    return f"columns/{column}.npy"


def _check_durations(values: array[float], place: str, fix: str) -> None:
    if all(map(math.isfinite, values)) and (not values or min(values) >= 0):
        return
    index = next(at for at, value in enumerate(values) if not 0 <= value < math.inf)
    raise BundleError(
        f"{place}[{index}]: expected a duration of zero or more seconds, got {values[index]}.", fix
    )


def _to_npy(column: array[float]) -> bytes:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(column)},), }}".encode()
    header += b" " * (-(len(_MAGIC) + 2 + len(header) + 1) % 64) + b"\n"  # data aligned as numpy does it
    return _MAGIC + len(header).to_bytes(2, "little") + header + _little_endian(column).tobytes()


def _from_npy(blob: bytes, name: str) -> array[float]:
    start = len(_MAGIC) + 2
    stop = start + int.from_bytes(blob[len(_MAGIC) : start], "little")
    header = _HEADER.fullmatch(blob, start, min(stop, len(blob)))
    if not blob.startswith(_MAGIC) or header is None or stop + 8 * int(header[1]) != len(blob):
        raise BundleError(f"{name} is not a one-dimensional float64 .npy file of its own length.", DAMAGED)
    column = array("d")
    column.frombytes(memoryview(blob)[stop:])
    return _little_endian(column)


def _little_endian(column: array[float]) -> array[float]:
    if sys.byteorder == "little":
        return column
    swapped = array("d", column)
    swapped.byteswap()
    return swapped
