"""Job: read the weights of a model once: zeros, denormals, non-finite values, ranges, and equal weights."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

from workbench.core.models.element_type import ElementType
from workbench.core.worker.usage import peak_rss_bytes

TILE_ELEMENTS = 1 << 18  # of float32 1 MiB: all statistics of a tile are made while a core's cache holds it
TRANSPOSED_ELEMENTS = 4 << 20
DENORMAL_TRIES = 20  # the fastest counts
LEAST_BYTES = 1 << 10  # smaller tensors are not weights
_UNREAD = frozenset(  # strings, and types whose elements share bytes
    {
        *(ElementType.STRING, ElementType.FLOAT4E2M1),
        *(ElementType.UINT4, ElementType.INT4, ElementType.UINT2, ElementType.INT2),
    }
)
NO_RANGES: dict[str, Any] = {
    **dict.fromkeys(("zeros", "denormals", "non_finite"), 0),
    **dict.fromkeys(("largest", "channel_range", "column_range")),
}


def run(model: str) -> dict[str, Any]:
    """Return a row for each initializer of the main graph: name, dims, element type, bytes and counts."""
    path = Path(model)
    proto = onnx.load(str(path), load_external_data=False)
    rows, alike = list[dict[str, Any]](), dict[tuple[int, ...], list[int]]()
    for place, tensor in enumerate(proto.graph.initializer):
        array = _array(tensor, path.parent)
        if array is not None and array.nbytes >= LEAST_BYTES:
            statistics, checksum = _scan(array)
            alike.setdefault((tensor.data_type, array.nbytes, *checksum), []).append(len(rows))
            rows.append({"name": tensor.name, "element": tensor.data_type, "place": place, **statistics})
    tensors = proto.graph.initializer
    for group in alike.values():
        if len(group) > 1:
            _hash(
                [rows[index] for index in group],
                lambda place: np.asarray(_array(tensors[place], path.parent)),
            )
    denormal = any(row["denormals"] for row in rows)
    return {
        "weights": rows,
        "denormal_slowdown": _denormal_slowdown() if denormal else None,
        "peak_bytes": peak_rss_bytes(),
    }


def _denormal_slowdown() -> float:
    """Return how much longer this processor takes to multiply denormal numbers than normal ones."""
    fastest = []
    for value in (0.5, 1e-39):
        numbers, products = np.full(1 << 14, value, np.float32), np.empty(1 << 14, np.float32)
        times = []
        for _ in range(DENORMAL_TRIES):
            began = time.perf_counter()
            np.multiply(numbers, np.float32(0.5), out=products)
            times.append(time.perf_counter() - began)
        fastest.append(min(times))
    return fastest[1] / fastest[0]


def _hash(rows: list[dict[str, Any]], read: Callable[[int], np.ndarray[Any, Any]]) -> None:
    """Hash weights that may hold the same elements, and their transposes unless all of them are equal."""
    for row in rows:
        row["sha1"] = _sha1(read(row["place"]).reshape(1, -1))
    if len({row["sha1"] for row in rows}) > 1:
        for row in rows:
            if len(row["dims"]) == 2:
                row["sha1_transposed"] = _sha1(read(row["place"]).T)


def _sha1(matrix: np.ndarray[Any, Any]) -> str:
    """Hash the elements of a matrix in its order, a bounded number at a time."""
    digest = hashlib.sha1(usedforsecurity=False)
    for rows, columns in _tiles(matrix.shape, TRANSPOSED_ELEMENTS):
        digest.update(np.ascontiguousarray(matrix[rows, columns]).view(np.uint8).data)
    return digest.hexdigest()


def _array(tensor: TensorProto, folder: Path) -> np.ndarray[Any, Any] | None:
    """Return the elements, without a copy of raw data; None for strings and packed types."""
    if tensor.data_type in _UNREAD:
        return None
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(tensor.data_type))
    shape = tuple(tensor.dims)
    count = int(np.prod(shape, dtype=np.int64))
    if tensor.data_location == TensorProto.EXTERNAL:
        info = external_data_helper.ExternalDataInfo(tensor)
        place = (folder / info.location).resolve()
        if not place.is_relative_to(folder.resolve()):
            raise ValueError(f"the weights of {tensor.name[:80]!r} lie outside of the model's folder")
        return np.memmap(place, dtype, "r", offset=int(info.offset or 0), shape=(count,)).reshape(shape)
    if tensor.HasField("raw_data"):
        if len(tensor.raw_data) != count * dtype.itemsize:
            return None
        return np.frombuffer(tensor.raw_data, dtype).reshape(shape)
    return numpy_helper.to_array(tensor)


def _scan(array: np.ndarray[Any, Any]) -> tuple[dict[str, Any], tuple[int, int]]:
    """Return the statistics of a weight, and a checksum that does not depend on the order of its elements."""
    is_float = array.dtype.kind == "f"
    rows = array.shape[0] if array.ndim > 1 else 1
    word = np.dtype(f"u{min(8, array.dtype.itemsize)}")  # complex128 is two of them
    words = np.asarray(array).reshape(rows, -1).view(word)
    ranges = _Ranges(array.dtype, words.shape) if is_float else None
    total, parity = 0, 0
    for place in _tiles(words.shape, TILE_ELEMENTS):
        tile = words[place]
        total = (total + int(np.add.reduce(tile, axis=None, dtype=np.uint32))) & 0xFFFFFFFF
        parity ^= int(np.bitwise_xor.reduce(tile, axis=None))
        if ranges is not None:
            ranges.add(tile, *place)
    statistics = {
        "dims": list(array.shape),
        "size_bytes": array.nbytes,
        "sha1": None,
        "sha1_transposed": None,
        **(NO_RANGES if ranges is None else ranges.statistics(array.ndim)),
    }
    return statistics, (total, parity)


class _Ranges:
    """The magnitudes of floats, tile by tile: their bits without the sign, in the same order as integers."""

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self.dtype, self.word = dtype, np.dtype(f"u{dtype.itemsize}")
        self.mask = self.word.type(np.iinfo(self.word).max >> 1)
        self.normal, self.infinite = (
            dtype.type(value).view(self.word) for value in (np.finfo(dtype).tiny, np.inf)
        )
        self.rows, self.columns = np.zeros(shape[0], self.word), np.zeros(shape[1], self.word)
        self.zeros = self.denormals = self.non_finite = 0
        self.largest = self.word.type(0)

    def add(self, tile: np.ndarray[Any, Any], rows: slice, columns: slice) -> None:
        """Count the elements of a tile, and keep the largest of each row and column."""
        sizes = tile & self.mask
        in_rows = sizes.max(axis=1)
        np.maximum(self.rows[rows], in_rows, out=self.rows[rows])
        np.maximum(self.columns[columns], sizes.max(axis=0), out=self.columns[columns])
        if sizes.min() < self.normal:
            zeros = sizes.size - int(np.count_nonzero(sizes))
            self.zeros += zeros
            self.denormals += int(np.count_nonzero(sizes < self.normal)) - zeros
        largest = in_rows.max()
        if largest >= self.infinite:
            finite = sizes[sizes < self.infinite]
            self.non_finite += sizes.size - finite.size
            largest = finite.max(initial=0)
        self.largest = max(self.largest, largest)

    def statistics(self, rank: int) -> dict[str, Any]:
        return {
            "zeros": self.zeros,
            "denormals": self.denormals,
            "non_finite": self.non_finite,
            "largest": float(self.largest.view(self.dtype)),
            "channel_range": self._range(self.rows) if rank > 1 else None,
            "column_range": self._range(self.columns) if rank == 2 else None,
        }

    def _range(self, sizes: np.ndarray[Any, Any]) -> float | None:
        """Return the largest channel's range over the median one's; None of one channel, or a median of 0."""
        ranges = sizes.view(self.dtype).astype(np.float64)
        middle = float(np.median(ranges))
        ratio = float(ranges.max() / middle) if len(ranges) > 1 and middle > 0 else None
        return ratio if ratio is not None and np.isfinite(ratio) else None


def _tiles(shape: tuple[int, ...], most: int) -> Iterator[tuple[slice, slice]]:
    """Yield the rows and columns of tiles of a matrix in its order: whole rows, or parts of a long one."""
    rows, columns = shape
    width = min(columns, most)
    height = max(1, most // width)
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            yield slice(top, top + height), slice(left, left + width)
