"""Examples of an iterator, kept as they are read: each config that is calibrated starts from the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


class Replayed(Iterable[Any]):
    """An iterator that can be gone through again; it is asked for no more than anybody wants."""

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
    """The same, unless it is an iterator, which the first to calibrate would use up."""
    return Replayed(data) if isinstance(data, Iterator) else data
