"""A model without its weights that ORT optimizes like the model: large tensors point into a file of holes.

Sessions made only to have their graph saved need no weights, and reading 400 MB for each costs minutes.
What a zero in place of a weight could change is caught: the last snapshot is compared with ORT's graph of the
real model.
"""

from __future__ import annotations

from math import prod
from pathlib import Path

from onnx import ModelProto, TensorProto

from workbench.analysis.graph.model import ELEMENT_BYTES
from workbench.models.structure import tensors
from workbench.models.wire import KEEP_BYTES

HOLES = "holes.bin"
_KINDS = ("float", "int32", "int64", "double", "uint64", "string")
_PAYLOADS = ("raw_data", *(f"{kind}_data" for kind in _KINDS))


def write_weightless(structure: ModelProto, source: Path, folder: Path) -> Path:
    """Write the model and its file of holes; read and keep small tensors of external data."""
    model = ModelProto()
    model.CopyFrom(structure)
    largest = 0
    for tensor in tensors(model):
        size = _size(tensor)
        if tensor.data_location == TensorProto.EXTERNAL and size <= KEEP_BYTES:
            _embed(tensor, source.parent, size)
        elif tensor.data_location == TensorProto.EXTERNAL or (size > 0 and not has_payload(tensor)):
            _point_to_holes(tensor, size)
            largest = max(largest, size)
    with (folder / HOLES).open("wb") as file:
        file.truncate(largest)
    path = folder / "weightless.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _size(tensor: TensorProto) -> int:
    return int(prod(tensor.dims) * ELEMENT_BYTES.get(tensor.data_type, 0.0) + 0.5)


def has_payload(tensor: TensorProto) -> bool:
    """Return whether the values of a tensor are in the model itself."""
    return any(len(getattr(tensor, field)) for field in _PAYLOADS)


def _point_to_holes(tensor: TensorProto, size: int) -> None:
    for field in _PAYLOADS:
        tensor.ClearField(field)
    tensor.ClearField("external_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", HOLES), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)


def _embed(tensor: TensorProto, folder: Path, size: int) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    with (folder / entries["location"]).open("rb") as file:
        file.seek(int(entries.get("offset", "0")))
        data = file.read(size)
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    tensor.raw_data = data
