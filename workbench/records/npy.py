"""One-dimensional `.npy` files, written and read by hand: no numpy import, no evaluation."""

from __future__ import annotations

import re
import sys
from array import array
from typing import Any

from workbench.errors import BundleError
from workbench.records.jsontext import DAMAGED

REAL, WHOLE = "d", "q"  # the array module's codes of float64 and int64
_MAGIC = b"\x93NUMPY\x01\x00"
_HEADER = re.compile(
    rb"\{'descr': '<([fi]8)', 'fortran_order': False, 'shape': \((0|[1-9][0-9]{0,8}),\), \} *\n", re.ASCII
)
_CODES = {"f8": REAL, "i8": WHOLE}
TYPES = {REAL: "float64", WHOLE: "int64"}


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
