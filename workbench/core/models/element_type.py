"""The element types of tensors by ONNX's numbers, so that a saved result is read without the package onnx."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from math import prod


class ElementType(IntEnum):
    """The numbers of TensorProto.DataType."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20
    UINT4 = 21
    INT4 = 22
    FLOAT4E2M1 = 23
    FLOAT8E8M0 = 24
    UINT2 = 25
    INT2 = 26
    FLOAT6E2M3 = 27
    FLOAT6E3M2 = 28


_BITS: dict[int, int] = {
    ElementType.FLOAT: 32,
    ElementType.DOUBLE: 64,
    ElementType.BOOL: 8,
    **{  # BFLOAT16, UINT4, FLOAT8E4M3FN, COMPLEX64
        int(element): int(digits[0])
        for element in ElementType
        if (digits := re.search("[0-9]+", element.name))
    },
}


def size_bytes(element: int, dims: Iterable[int]) -> int | None:
    """Return the bytes of a stored tensor; small elements are packed. None for texts and unknown types."""
    bits = _BITS.get(element)
    return None if bits is None else -(-prod(dims) * bits // 8)
