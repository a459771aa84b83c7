"""The views' data: numbers as one block of bytes, which the browser reads as typed arrays, and texts once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from workbench.drawing.palette import FillStyle

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


class TextTable:
    """Numbered texts; the columns hold the numbers. A very long text is cut."""

    def __init__(self, most_letters: int) -> None:
        self._most = most_letters
        self._numbers: dict[str, int] = {}

    @property
    def all(self) -> list[str]:
        """The texts by their numbers."""
        return list(self._numbers)

    def number(self, text: str) -> int:
        """Return the number of a text; add the text if it is new."""
        short = text if len(text) <= self._most else f"{text[: self._most - 1]}…"
        return self._numbers.setdefault(short, len(self._numbers))


def style_data(style: FillStyle) -> dict[str, str]:
    """Return what the canvas needs of a style."""
    return {"color": style.color, "pattern": style.pattern, "ink": style.ink}
