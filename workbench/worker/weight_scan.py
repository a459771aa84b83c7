"""Job: read the weights of a model once: hashes, zeros, denormals, non-finite values, ranges."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, external_data_helper, helper, numpy_helper

CHUNK_ELEMENTS = 4 << 20
LEAST_BYTES = 1 << 10  # smaller tensors are not weights


def run(model: str) -> dict[str, Any]:
    """Return a row for each initializer of the main graph: name, dims, element type, bytes and counts."""
    path = Path(model)
    proto = onnx.load(str(path), load_external_data=False)
    rows = []
    for tensor in proto.graph.initializer:
        array = _array(tensor, path.parent)
        if array is not None and array.nbytes >= LEAST_BYTES:
            rows.append({"name": tensor.name, "element": tensor.data_type, **_scan(array)})
    return {"weights": rows}


def _array(tensor: TensorProto, folder: Path) -> np.ndarray[Any, Any] | None:
    """Return the elements, without a copy of raw data; None for strings and packed types."""
    if tensor.data_type == TensorProto.STRING:
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
            return None  # 4-bit types share their bytes
        return np.frombuffer(tensor.raw_data, dtype).reshape(shape)
    return numpy_helper.to_array(tensor)


def _scan(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    counts = {"zeros": 0, "denormals": 0, "non_finite": 0}
    largest = 0.0
    digest = hashlib.sha1(usedforsecurity=False)
    is_float = array.dtype.kind == "f"
    tiny = np.finfo(array.dtype).tiny if is_float else 0
    for chunk in _chunks(array.reshape(-1)):
        digest.update(chunk.tobytes())
        if is_float:
            size = np.abs(chunk)
            finite = np.isfinite(size)
            zeros = size == 0
            counts["zeros"] += int(zeros.sum())
            counts["denormals"] += int(((size < tiny) & ~zeros).sum())
            counts["non_finite"] += int((~finite).sum())
            largest = max(largest, float(size.max(initial=0.0, where=finite)))
    return {
        "dims": list(array.shape),
        "bytes": array.nbytes,
        "sha1": digest.hexdigest(),
        "sha1_transposed": _transposed_sha1(array),
        "largest": largest if is_float else None,
        "channel_range": _channel_range(array) if is_float else None,
        **counts,
    }


def _transposed_sha1(array: np.ndarray[Any, Any]) -> str | None:
    """Hash the transposed matrix, some columns at a time."""
    if array.ndim != 2:
        return None
    digest = hashlib.sha1(usedforsecurity=False)
    step = max(1, CHUNK_ELEMENTS // max(1, array.shape[0]))
    for start in range(0, array.shape[1], step):
        digest.update(np.ascontiguousarray(array[:, start : start + step].T).tobytes())
    return digest.hexdigest()


def _channel_range(array: np.ndarray[Any, Any]) -> float | None:
    """Return the largest channel's range over the median one's; None for vectors and a median of 0."""
    if array.ndim < 2 or array.shape[0] < 2:
        return None
    ranges = np.array([np.abs(channel).max(initial=0) for channel in array], np.float64)
    middle = float(np.median(ranges))
    ratio = float(ranges.max() / middle) if middle > 0 else None
    return ratio if ratio is not None and np.isfinite(ratio) else None


def _chunks(flat: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    for start in range(0, flat.size, CHUNK_ELEMENTS):
        yield flat[start : start + CHUNK_ELEMENTS]
