"""Element types that numpy lacks: their names, their numbers and their bits as stored by ORT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np


class Exotic(NamedTuple):
    """An element type that ml_dtypes has and numpy lacks; ORT accepts such a tensor as an OrtValue only."""

    dtype: str  # its name in ml_dtypes
    number: int  # in TensorProto
    bits: int  # ORT packs elements below 8 bits, the first one lowest; ml_dtypes uses a byte per element


EXOTIC = {  # by ORT's name
    "bfloat16": Exotic("bfloat16", 16, 16),
    "float8e4m3fn": Exotic("float8_e4m3fn", 17, 8),
    "float8e4m3fnuz": Exotic("float8_e4m3fnuz", 18, 8),
    "float8e5m2": Exotic("float8_e5m2", 19, 8),
    "float8e5m2fnuz": Exotic("float8_e5m2fnuz", 20, 8),
    "uint4": Exotic("uint4", 21, 4),
    "int4": Exotic("int4", 22, 4),
    "float4e2m1": Exotic("float4_e2m1fn", 23, 4),
    "float8e8m0": Exotic("float8_e8m0fnu", 24, 8),
    "uint2": Exotic("uint2", 25, 2),
    "int2": Exotic("int2", 26, 2),
}
BY_DTYPE = {exotic.dtype: exotic for exotic in EXOTIC.values()}
ELEMENT = re.compile(r"tensor\((\w+)\)")  # also inside seq(…) and optional(…)


def packed(array: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Return the elements as stored by ORT, in an array of the same shape, from which ORT reads the dims.

    Packed elements fill only the beginning of the array.
    """
    if bits >= 8:
        return array.view(np.uint16 if bits == 16 else np.uint8)
    whole = np.zeros(array.shape, np.uint8)
    line, values = whole.reshape(-1), np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    per_byte = 8 // bits
    for place in range(per_byte):
        part = (values[place::per_byte] & ((1 << bits) - 1)) << (place * bits)
        line[: part.size] |= part
    return whole


def unpacked(raw: bytes, shape: Sequence[int], dtype: np.dtype[Any], bits: int) -> np.ndarray[Any, Any]:
    """Return the unpacked elements: one element of `dtype` for every `bits` bits."""
    line: np.ndarray[Any, Any] = np.frombuffer(bytearray(raw), np.uint8)
    if bits < 8:
        shifts = np.arange(0, 8, bits, dtype=np.uint8)
        line = ((line[:, None] >> shifts) & ((1 << bits) - 1)).reshape(-1)[
            : int(np.prod(shape, dtype=np.int64))
        ]
    return line.view(dtype).reshape(shape)
