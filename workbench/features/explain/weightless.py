"""A model without its weights: ORT optimizes it like the model, and ONNX's own inference gives it shapes.

Sessions made only to have their graph saved need no weights, and reading 400 MB for each costs minutes: large
tensors point into a file of holes. What a zero in place of a weight could change is caught: the last snapshot
is compared with ORT's graph of the real model.

The inference runs in a worker process: a file of a kilobyte can make it run for ever, and it holds the
interpreter's lock meanwhile.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.core.errors import RunFailed, WorkerError
from workbench.core.models.element_type import size_bytes
from workbench.core.models.structure import tensors
from workbench.core.models.wire import KEEP_BYTES
from workbench.core.worker.launch import WorkerFolder, call_job

if TYPE_CHECKING:
    from onnx import ModelProto, TensorProto

HOLES = "holes.bin"
_MOST_BYTES = 256 << 20  # of the structure, and of what inference makes of it
_TIMEOUT_S = 60.0  # the largest sample takes 2 s; sizes are unknown where inference takes longer
_KINDS = ("float", "int32", "int64", "double", "uint64", "string")
_PAYLOADS = ("raw_data", *(f"{kind}_data" for kind in _KINDS))


def write_weightless(structure: ModelProto, source: Path, folder: Path) -> Path:
    """Write the model and its file of holes; read and keep small tensors of external data."""
    from onnx import ModelProto

    model = ModelProto()
    model.CopyFrom(structure)
    largest = 0
    for tensor in tensors(model):
        size = size_bytes(tensor.data_type, tensor.dims) or 0
        if tensor.data_location == tensor.EXTERNAL and size <= KEEP_BYTES:
            _embed(tensor, source.parent, size)
        elif tensor.data_location == tensor.EXTERNAL or (size > 0 and not _has_payload(tensor)):
            _point_to(tensor, location=HOLES, offset="0", length=str(size))
            largest = max(largest, size)
    with (folder / HOLES).open("wb") as file:
        file.truncate(largest)
    path = folder / "weightless.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def with_shapes(
    structure: ModelProto, *, timeout_s: float = _TIMEOUT_S, cancel: threading.Event | None = None
) -> ModelProto:
    """Return a copy with inferred value_info, or the structure itself where inference fails or takes long."""
    bare = _without_weights(structure)
    if bare.ByteSize() > _MOST_BYTES:
        return structure
    with WorkerFolder() as folder:
        source, target = folder / "structure.onnx", folder / "inferred.onnx"
        source.write_bytes(bare.SerializeToString())
        try:
            call_job(
                "preparing.inference",
                {"source": str(source), "target": str(target)},
                timeout_s=timeout_s,
                cancel=cancel,
            )
        except (RunFailed, WorkerError):  # a crash, no memory or no answer: sizes stay unknown, ORT goes on
            return structure
        if not target.exists() or target.stat().st_size > _MOST_BYTES:
            return structure
        from onnx import ModelProto

        inferred: ModelProto = ModelProto.FromString(target.read_bytes())
        return inferred


def _without_weights(structure: ModelProto) -> ModelProto:
    """Return a copy whose left-out weights are external: inference only asks for their type and shape."""
    from onnx import ModelProto

    bare = ModelProto()
    bare.CopyFrom(structure)
    for tensor in tensors(bare):
        if tensor.ByteSize() < KEEP_BYTES and not _has_payload(tensor):
            _point_to(tensor, location="weights")
    return bare


def _has_payload(tensor: TensorProto) -> bool:
    """Return whether the values of a tensor are in the model itself."""
    return any(len(getattr(tensor, field)) for field in _PAYLOADS)


def _point_to(tensor: TensorProto, **place: str) -> None:
    """Replace the values of a tensor by a place in another file."""
    for field in (*_PAYLOADS, "external_data"):
        tensor.ClearField(field)
    tensor.data_location = tensor.EXTERNAL
    for key, value in place.items():
        tensor.external_data.add(key=key, value=value)


def _embed(tensor: TensorProto, folder: Path, size: int) -> None:
    entries = {entry.key: entry.value for entry in tensor.external_data}
    with (folder / entries["location"]).open("rb") as file:
        file.seek(int(entries.get("offset", "0")))
        data = file.read(size)
    tensor.ClearField("external_data")
    tensor.ClearField("data_location")
    tensor.raw_data = data
