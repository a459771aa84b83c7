"""Random arrays of every ONNX element type, drawn from a seed."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from workbench.core.errors import InputError
from workbench.core.models.declared import element_name
from workbench.core.models.element_type import ElementType
from workbench.core.text import bytes_text

MAX_BYTES = 4 << 30  # all inputs together: a larger total is usually a mistake in a dim
_STRING_BYTES = 64  # a Python string and its reference
_MAX_RANK = 64
_WORDS = ("a", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog")
_REFUSED = ("int4", "uint4", "int2", "uint2", "float4", "float6e", "float8e8m0")
_COMPLEX = (ElementType.COMPLEX64, ElementType.COMPLEX128)
Array = np.ndarray[Any, np.dtype[Any]]


def is_integer(element: int) -> bool:
    return element_name(element).startswith(("int", "uint"))


def dtype_of(element: int, what: str) -> np.dtype[Any]:
    """Return the numpy (or ml_dtypes) type of an element type; refuse those that ORT takes packed only."""
    if element_name(element).startswith(_REFUSED):
        raise InputError(
            f"{what} has {element_name(element)}, which the workbench does not feed: neither NumPy nor ONNX "
            "Runtime's Python API holds such a tensor",
            "Give a model that takes int8 or float32 and casts it",
        )
    try:
        return np.dtype(_numpy_type(element))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{what} has {element_name(element)}, which is no type of ONNX's",
            "Give a model with a known type",
        ) from error


def _numpy_type(element: int) -> np.dtype[Any]:
    from onnx.helper import tensor_dtype_to_np_dtype

    return tensor_dtype_to_np_dtype(element)


def nbytes(element: int, dims: tuple[int, ...], what: str) -> int:
    """Return the bytes of a tensor in memory."""
    if len(dims) > _MAX_RANK:
        raise InputError(
            f"{what} has {len(dims)} dims", f"NumPy holds at most {_MAX_RANK}: give another model"
        )
    item = _STRING_BYTES if element == ElementType.STRING else dtype_of(element, what).itemsize
    return prod(max(dim, 1) for dim in dims) * item  # NumPy refuses huge dims even beside a zero


def refuse_above(total: int, what: str) -> None:
    """Refuse inputs that would fill the memory, before any allocation."""
    if total > MAX_BYTES:
        raise InputError(
            f"{what} would take {bytes_text(total)} of inputs, above the bound of {bytes_text(MAX_BYTES)}",
            "Make the free dims smaller, or give inputs of your own",
        )


def integers(rng: np.random.Generator, element: int, dims: tuple[int, ...], low: int, high: int) -> Array:
    """Draw integers from low to high - 1, within the range of the element type."""
    dtype = _numpy_type(element)
    import ml_dtypes

    high = min(high, int(ml_dtypes.iinfo(dtype).max) + 1)  # type: ignore[no-untyped-call]
    drawn = rng.integers(low, max(high, low + 1), size=dims, dtype=np.int64)
    return drawn.astype(dtype)


def fits(element: int, value: float) -> bool:
    """Return whether an integer type, of 64 bits with a sign at most, holds a number: NaN fits none."""
    import ml_dtypes

    limits: Any = ml_dtypes.iinfo(_numpy_type(element))  # type: ignore[no-untyped-call]
    return int(limits.min) <= value <= min(int(limits.max), 2**63 - 1)


def constant(element: int, dims: tuple[int, ...], value: float | int) -> Array:
    """Fill an array with one value."""
    dtype = _numpy_type(element)
    if dtype == np.dtype(object):
        return np.full(dims, str(value), dtype=object)
    return np.full(dims, value, np.float64 if isinstance(value, float) else np.int64).astype(dtype)


def along_last_axis(element: int, dims: tuple[int, ...], start: int, bound: int | None) -> Array:
    """Count start, start + 1, … along the last axis, never beyond bound - 1."""
    count = dims[-1] if dims else 1
    line = np.arange(start, start + count, dtype=np.int64)
    if bound is not None:
        line = np.minimum(line, max(bound - 1, 0))
    return np.broadcast_to(line if dims else line[0], dims).astype(_numpy_type(element))


def normal(rng: np.random.Generator, element: int, dims: tuple[int, ...]) -> Array:
    """Draw normally distributed numbers of any floating or complex type."""
    drawn = rng.standard_normal(dims, dtype=np.float32)
    if element in _COMPLEX:
        drawn = drawn + 1j * rng.standard_normal(dims, dtype=np.float32)
    return _as(drawn, element)


def uniform(rng: np.random.Generator, element: int, dims: tuple[int, ...], low: float, high: float) -> Array:
    """Draw evenly distributed numbers."""
    return _as(rng.random(dims, dtype=np.float32) * (high - low) + low, element)


def _as(drawn: Any, element: int) -> Array:
    dtype = _numpy_type(element)
    return np.asarray(drawn).astype(dtype)


def booleans(rng: np.random.Generator, dims: tuple[int, ...]) -> Array:
    return rng.integers(0, 2, size=dims).astype(bool)


def words(rng: np.random.Generator, dims: tuple[int, ...]) -> Array:
    """Draw short English words as an array of Python strings."""
    drawn = np.array(_WORDS, dtype=object)[rng.integers(0, len(_WORDS), size=dims)]
    return np.asarray(drawn, dtype=object).reshape(dims)
