"""Keep the examples of an iterator, so that every config is calibrated from the first one on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Replayed(Iterable[Any]):
    """An iterable over an iterator that can start again; it reads no further than needed."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source
        self._taken: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        at = 0
        while True:
            if at == len(self._taken):
                try:
                    self._taken.append(next(self._source))
                except StopIteration:
                    return
            yield self._taken[at]
            at += 1


def replayed(data: Any) -> Any:
    """Return calibration data that several configs can read: an iterator is kept, other data stay."""
    return Replayed(data) if isinstance(data, Iterator) else data
