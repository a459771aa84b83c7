"""The examples of an iterator, kept so that every config reads all of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import tee
from typing import Any


class Replayed(Iterable[Any]):
    """A restartable iterable over an iterator, which is read no further than needed."""

    def __init__(self, source: Iterator[Any]) -> None:
        self._source = source

    def __iter__(self) -> Iterator[Any]:
        self._source, reader = tee(self._source)
        return reader


def replayed(data: Any) -> Any:
    """Return data that several configs can read; keep the examples of an iterator and of a reader."""
    if type(data) is tuple:  # feeds and labels
        return tuple(map(replayed, data))
    source = iter(data.get_next, None) if hasattr(data, "get_next") else data  # a CalibrationDataReader
    return Replayed(source) if isinstance(source, Iterator) else data
