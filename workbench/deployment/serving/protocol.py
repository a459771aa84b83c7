"""The Open Inference Protocol, version 2: JSON requests and responses, with the binary tensor extension."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Array: TypeAlias = "np.ndarray[Any, Any]"

BYTES = "BYTES"
DTYPES: dict[str, type[np.generic]] = {
    "BOOL": np.bool_,
    "UINT8": np.uint8,
    "UINT16": np.uint16,
    "UINT32": np.uint32,
    "UINT64": np.uint64,
    "INT8": np.int8,
    "INT16": np.int16,
    "INT32": np.int32,
    "INT64": np.int64,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    BYTES: np.object_,
}
HEADER_LENGTH = "Inference-Header-Content-Length"
_MOST_DIGITS = 18  # of a length: Python refuses to read a number of thousands of digits
_KINDS = {"b": "b", "u": "bui", "i": "bui", "f": "buif"}  # numpy kind of a datatype: kinds of JSON numbers


class RequestError(Exception):
    """A request that the client has to change."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Tensor:
    """An input or output of the model; -1 is a free dimension."""

    name: str
    datatype: str
    shape: tuple[int, ...]

    def metadata(self) -> dict[str, Any]:
        return {"name": self.name, "datatype": self.datatype, "shape": list(self.shape)}


@dataclass(frozen=True)
class InferRequest:
    """A decoded request."""

    id: str | None
    feeds: dict[str, Array]
    outputs: tuple[tuple[str, bool], ...]  # name, and whether its values are returned as bytes


def read_request(
    body: bytes, header_length: str | None, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> InferRequest:
    """Decode the body of an infer request and check it against the inputs and outputs of the model."""
    head, rest = _split(body, header_length)
    try:
        document = json.loads(head)
    except (ValueError, RecursionError) as error:
        raise RequestError("the request is not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("inputs"), list):
        raise RequestError('the request has no list "inputs"')
    known = {tensor.name: tensor for tensor in inputs}
    feeds: dict[str, Array] = {}
    offset = 0
    for entry in document["inputs"]:
        if not isinstance(entry, dict):
            raise RequestError("an entry of inputs is not an object")
        tensor = known.get(str(entry.get("name")))
        if tensor is None:
            raise RequestError(
                f"there is no input {_short(entry.get('name'))}; inputs are {', '.join(known)}"
            )
        if tensor.name in feeds:
            raise RequestError(f"input {tensor.name} is given twice")
        feeds[tensor.name], offset = _read_input(entry, tensor, rest, offset)
    missing = [name for name in known if name not in feeds]
    if missing:
        raise RequestError(f"input {', '.join(missing)} is missing")
    if offset != len(rest):
        raise RequestError(f"{len(rest) - offset} bytes follow the last binary input")
    identity = document.get("id")
    return InferRequest(None if identity is None else str(identity), feeds, _wanted(document, outputs))


def write_response(
    model: str, version: str, request: InferRequest, outputs: Mapping[str, Array], tensors: Sequence[Tensor]
) -> tuple[bytes, dict[str, str]]:
    """Encode the outputs that the request asked for; return the body and its headers."""
    datatypes = {tensor.name: tensor.datatype for tensor in tensors}
    entries, chunks = [], []
    for name, binary in request.outputs:
        array = np.asarray(outputs[name])
        entry: dict[str, Any] = {"name": name, "datatype": datatypes[name], "shape": list(array.shape)}
        if binary:
            chunks.append(_to_bytes(array, datatypes[name]))
            entry["parameters"] = {"binary_data_size": len(chunks[-1])}
        else:
            entry["data"] = _to_json(array)
        entries.append(entry)
    document: dict[str, Any] = {"model_name": model, "model_version": version, "outputs": entries}
    if request.id is not None:
        document["id"] = request.id
    head = json.dumps(document).encode()
    if not chunks:
        return head, {"Content-Type": "application/json"}
    headers = {"Content-Type": "application/octet-stream", HEADER_LENGTH: str(len(head))}
    return b"".join([head, *chunks]), headers


def _split(body: bytes, header_length: str | None) -> tuple[bytes, bytes]:
    if header_length is None:
        return body, b""
    is_number = header_length.isascii() and header_length.isdecimal() and len(header_length) <= _MOST_DIGITS
    if not is_number or int(header_length) > len(body):
        raise RequestError(f"{HEADER_LENGTH} is not a length within the body")
    return body[: int(header_length)], body[int(header_length) :]


def _read_input(entry: dict[str, Any], tensor: Tensor, rest: bytes, offset: int) -> tuple[Array, int]:
    if entry.get("datatype") != tensor.datatype:
        raise RequestError(
            f"input {tensor.name} has datatype {_short(entry.get('datatype'))}; it must be {tensor.datatype}"
        )
    shape = _shape(entry.get("shape"), tensor)
    parameters = entry.get("parameters")
    size = parameters.get("binary_data_size") if isinstance(parameters, dict) else None
    if size is None:
        return _from_json(entry.get("data"), tensor, shape), offset
    if type(size) is not int or not 0 <= size <= len(rest) - offset:
        raise RequestError(f"binary_data_size of input {tensor.name} is not a length within the body")
    return _from_bytes(rest[offset : offset + size], tensor, shape), offset + size


def _shape(shape: Any, tensor: Tensor) -> tuple[int, ...]:
    if not isinstance(shape, list) or any(type(size) is not int or size < 0 for size in shape):
        raise RequestError(f"input {tensor.name} has no shape: a list of sizes")
    fits = len(shape) == len(tensor.shape) and all(
        expected in (-1, size) for size, expected in zip(shape, tensor.shape, strict=True)
    )
    if not fits:
        raise RequestError(
            f"input {tensor.name} has shape {_short(shape)}; "
            f"it must be {list(tensor.shape)}, where -1 is any size"
        )
    return tuple(shape)


def _from_json(data: Any, tensor: Tensor, shape: tuple[int, ...]) -> Array:
    if not isinstance(data, list):
        raise RequestError(f"input {tensor.name} has no list data")
    dtype = np.dtype(DTYPES[tensor.datatype])
    try:
        if tensor.datatype == BYTES:
            array = np.array(_flat(data), dtype=object)
            if not all(isinstance(text, str) for text in array):
                raise ValueError("not all texts")
        else:
            given = np.asarray(data)
            if given.size and given.dtype.kind not in _KINDS[dtype.kind]:
                raise ValueError(f"values of kind {given.dtype.kind}")
            array = given.astype(dtype)
            if given.size and dtype.kind in "biu" and not np.array_equal(array, given):
                raise ValueError("values out of range")
        return array.reshape(shape)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise RequestError(
            f"data of input {tensor.name} are not {math.prod(shape)} values of {tensor.datatype}"
        ) from error


def _flat(data: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for item in data:
        flat += _flat(item) if isinstance(item, list) else [item]
    return flat


def _from_bytes(data: bytes, tensor: Tensor, shape: tuple[int, ...]) -> Array:
    if tensor.datatype == BYTES:
        texts = _texts(data, tensor.name)
        if len(texts) != math.prod(shape):
            raise RequestError(f"input {tensor.name} has {len(texts)} texts, its shape {math.prod(shape)}")
        return np.array(texts, dtype=object).reshape(shape)
    dtype = np.dtype(DTYPES[tensor.datatype])
    if len(data) != math.prod(shape) * dtype.itemsize:
        raise RequestError(
            f"input {tensor.name} has {len(data)} bytes; shape and datatype ask for "
            f"{math.prod(shape) * dtype.itemsize}"
        )
    return np.frombuffer(data, dtype.newbyteorder("<")).reshape(shape)


def _texts(data: bytes, name: str) -> list[str]:
    texts, place = [], 0
    while place < len(data):
        length = int.from_bytes(data[place : place + 4], "little")
        place += 4
        if place + length > len(data):
            raise RequestError(f"a text of input {name} is cut")
        try:
            texts.append(data[place : place + length].decode("utf-8"))
        except UnicodeDecodeError as error:
            raise RequestError(f"a text of input {name} is not UTF-8") from error
        place += length
    return texts


def _to_bytes(array: Array, datatype: str) -> bytes:
    if datatype != BYTES:
        return np.ascontiguousarray(array, np.dtype(DTYPES[datatype]).newbyteorder("<")).tobytes()
    encoded = [str(text).encode() for text in array.reshape(-1)]
    return b"".join(len(text).to_bytes(4, "little") + text for text in encoded)


def _to_json(array: Array) -> list[Any]:
    """Return the values in one flat list; NaN and infinity have no JSON form, so they are null."""
    values: list[Any] = array.reshape(-1).tolist()
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return [value if math.isfinite(value) else None for value in values]
    return values


def _wanted(document: dict[str, Any], outputs: Sequence[Tensor]) -> tuple[tuple[str, bool], ...]:
    parameters = document.get("parameters")
    binary = isinstance(parameters, dict) and parameters.get("binary_data_output") is True
    asked = document.get("outputs")
    if asked is None or asked == []:
        return tuple((tensor.name, binary) for tensor in outputs)
    if not isinstance(asked, list):
        raise RequestError("outputs is not a list")
    names = [tensor.name for tensor in outputs]
    wanted = []
    for entry in asked:
        name = str(entry.get("name")) if isinstance(entry, dict) else ""
        if name not in names:
            raise RequestError(f"there is no output {_short(name)}; outputs are {', '.join(names)}")
        own = entry.get("parameters")
        wanted.append(
            (name, own["binary_data"] is True if isinstance(own, dict) and "binary_data" in own else binary)
        )
    return tuple(wanted)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
