"""Shapes and types of the source graph, as far as ONNX's own inference gives them without weights.

The inference runs in a worker process: a file of a kilobyte can make it run for ever, and it holds the
interpreter's lock meanwhile.
"""

from __future__ import annotations

import threading

from onnx import ModelProto, TensorProto

from workbench.analysis.weightless import has_payload
from workbench.errors import RunFailed, WorkerError
from workbench.models.structure import tensors
from workbench.models.wire import KEEP_BYTES
from workbench.worker.launch import WorkerFolder, call_job

MOST_BYTES = 256 << 20  # of the structure, and of what inference makes of it
TIMEOUT_S = 60.0  # the largest sample takes 2 s; sizes are unknown where inference takes longer


def with_shapes(
    structure: ModelProto, *, timeout_s: float = TIMEOUT_S, cancel: threading.Event | None = None
) -> ModelProto:
    """Return a copy with inferred value_info, or the structure itself where inference fails or takes long."""
    bare = _without_weights(structure)
    if bare.ByteSize() > MOST_BYTES:
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
        if not target.exists() or target.stat().st_size > MOST_BYTES:
            return structure
        inferred: ModelProto = ModelProto.FromString(target.read_bytes())
        return inferred


def _without_weights(structure: ModelProto) -> ModelProto:
    """Return a copy whose left-out weights are external: inference only asks for their type and shape."""
    bare = ModelProto()
    bare.CopyFrom(structure)
    for tensor in tensors(bare):
        if tensor.ByteSize() < KEEP_BYTES and not has_payload(tensor):
            tensor.ClearField("external_data")
            tensor.data_location = TensorProto.EXTERNAL
            tensor.external_data.add(key="location", value="weights")
    return bare
