"""The tensors of one node, and its cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

_BITS = {
    "float": 32, "float16": 16, "bfloat16": 16, "double": 64,
    "int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64,
    "bool": 8, "int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "complex64": 64, "complex128": 128,
    "float8e4m3fn": 8, "float8e4m3fnuz": 8, "float8e5m2": 8, "float8e5m2fnuz": 8, "float4e2m1": 4,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operand:
    """An element type in ORT's words and dims. None: not known."""

    element: str | None
    dims: tuple[int, ...] | None

    @property
    def count(self) -> int | None:
        return None if self.dims is None else prod(self.dims)

    @property
    def size_bytes(self) -> int | None:
        bits = _BITS.get(self.element or "")
        return None if bits is None or self.count is None else (self.count * bits + 7) // 8


@dataclass(frozen=True, slots=True)
class Work:
    """One node as the formulas read it. An input or output that is left out is None in its place."""

    op_type: str
    domain: str
    attributes: Mapping[str, Any]
    inputs: tuple[Operand | None, ...]
    outputs: tuple[Operand | None, ...]

    def given(self, position: int) -> tuple[int, ...]:
        """Return the dims of an input; raise Unknown when they are not known."""
        return _dims(self.inputs, position)

    def made(self, position: int = 0) -> tuple[int, ...]:
        """Return the dims of an output; raise Unknown when they are not known."""
        return _dims(self.outputs, position)


@dataclass(frozen=True, slots=True)
class Cost:
    """Multiply-adds of products, operations in all (two a multiply-add), bytes read and written once each."""

    macs: int | None
    flops: int | None
    bytes_moved: int | None


class Unknown(Exception):
    """A shape that a formula needs is not known."""


def _dims(tensors: tuple[Operand | None, ...], position: int) -> tuple[int, ...]:
    tensor = tensors[position] if position < len(tensors) else None
    if tensor is None or tensor.dims is None:
        raise Unknown
    return tensor.dims
