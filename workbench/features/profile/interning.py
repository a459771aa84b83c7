"""Texts and argument sets as numbers: a trace says the same few things a million times."""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Any

import numpy as np
import orjson

from workbench.features.profile.trace import NodeCall, Shape

_LARGEST = 1 << 63  # what a column can hold


class Interning(dict[Any, int]):
    """Value → number, in order of first sight; looking a new value up adds it."""

    def __missing__(self, value: Hashable) -> int:
        code = self[value] = len(self)
        return code


def packed(values: array[Any]) -> Any:
    """Return a read-only numpy array over the same memory."""
    column = np.frombuffer(values, dtype=np.dtype(values.typecode))
    column.flags.writeable = False
    return column


def call_row(values: tuple[Any, ...]) -> NodeCall:
    """Make a call of op type, provider, four numbers as ORT writes them, and the shapes as JSON."""
    op_type, provider, *numbers, both = values
    index, activations, output, parameters = map(number, numbers)
    inputs, outputs = map(shapes, orjson.loads(both))
    return NodeCall(text(op_type), text(provider), index, activations, output, parameters, inputs, outputs)


def number(value: Any) -> int | None:
    """Read a number that ORT wrote as text; anything else is absent."""
    if isinstance(value, bool):
        return None
    try:
        parsed = int(value) if isinstance(value, (str, int)) and len(str(value)) < 20 else None
    except ValueError:
        return None
    return parsed if parsed is not None and abs(parsed) < _LARGEST else None


def text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def shapes(value: Any) -> tuple[Shape, ...] | None:
    """Read `[{"float": [4, 32]}]` as (("float", (4, 32)),); None where it has another form."""
    if not isinstance(value, list):
        return None
    parsed: list[Shape] = []
    for item in value:
        if not isinstance(item, dict) or len(item) != 1:
            return None
        ((kind, dims),) = item.items()
        if not isinstance(dims, list) or not all(type(dim) is int and abs(dim) < _LARGEST for dim in dims):
            return None
        parsed.append((kind, tuple(dims)))
    return tuple(parsed)
