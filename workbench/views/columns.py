"""Rows of numbers as one block of bytes that the browser reads as typed arrays, without parsing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

ALIGN = 8
KINDS: dict[str, np.dtype[Any]] = {"u": np.dtype("<u4"), "f": np.dtype("<f4"), "d": np.dtype("<f8")}


def pack(columns: Mapping[str, Sequence[int] | Sequence[float | None]]) -> tuple[dict[str, list[Any]], bytes]:
    """Gives where each column stands as [kind, offset, count], and the block.

    Names that end in `_f` are float32 and those in `_d` float64, with NaN for None; all others uint32.
    """
    table: dict[str, list[Any]] = {}
    parts: list[bytes] = []
    offset = 0
    for name, values in columns.items():
        kind = name[-1] if name.endswith(("_f", "_d")) else "u"
        if kind in "fd":
            numbers = np.array([np.nan if value is None else value for value in values], KINDS[kind])
        else:
            numbers = np.array(values, KINDS["u"])
        data = numbers.tobytes()
        table[name] = [kind, offset, len(values)]
        padding = -len(data) % ALIGN
        parts += [data, b"\0" * padding]
        offset += len(data) + padding
    return table, b"".join(parts)


def unpack(table: Mapping[str, Sequence[Any]], block: bytes) -> dict[str, np.ndarray[Any, Any]]:
    """Read the columns like the browser, for tests and still pictures."""
    return {
        name: np.frombuffer(block, KINDS[kind], count, offset)
        for name, (kind, offset, count) in table.items()
    }
