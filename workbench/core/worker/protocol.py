"""The pipe between kernel and worker: frames of one JSON object and one block of raw bytes.

Standard library only: both ends import this module, and the child's interpreter may have only onnxruntime and
numpy. Nothing is pickled; a frame that is too large or is not JSON ends the exchange.
"""

from __future__ import annotations

import json
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_SIZES = struct.Struct("<II")
_MAX_JSON_BYTES = 64 << 20
MAX_PAYLOAD_BYTES = 256 << 20
BEFORE_CAST = "InsertedPrecisionFreeCast_"  # ORT renames an output that it computes in float32 for float16
_BOOTSTRAP = (
    "import sys, types; package = types.ModuleType('workbench'); package.__path__ = [sys.argv[1]]; "
    "sys.modules['workbench'] = package; from workbench.core.worker.{module} import main; main()"
)
_PACKAGE = str(Path(__file__).resolve().parents[2])

_PLAIN = ("dims", "dynamic", "folding", "fusion", "half", "inference", "naming", "preprocess", "weights")
_MODULES = (
    "computing",
    "exposing",
    "layer_errors",
    "probe",
    "profiling",
    "snapshots",
    "tensors",
    "weight_scan",
    "preparing.calibrate",
    "preparing.compiling",
    "preparing.opset",
    "preparing.rewrite",
    "preparing.saving",
    "preparing.static",
)
JOBS = {  # what a "call" message can name: module of workbench.core.worker, function
    **{name: (name, "run") for name in _MODULES},
    **{f"preparing.{name}": ("preparing.plain", name) for name in _PLAIN},
}


class ProtocolError(Exception):
    """The error for bytes that are not a frame."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `kind` is a command to the worker, or "hello", "done" or "failed" from the worker."""

    kind: str
    body: dict[str, Any]
    payload: bytes = b""


def command(python: str, module: str, *arguments: str) -> list[str]:
    """Return the command line that runs `main` of a module of this package."""
    return [python, "-P", "-c", _BOOTSTRAP.format(module=module), _PACKAGE, str(os.getpid()), *arguments]


def write_message(stream: IO[bytes], message: Message) -> None:
    text = json.dumps({"kind": message.kind, **message.body}, allow_nan=True).encode()
    stream.write(_SIZES.pack(len(text), len(message.payload)) + text + message.payload)
    stream.flush()


def read_message(stream: IO[bytes]) -> Message | None:
    """Return the next message, or None at the end of the stream."""
    head = stream.read(_SIZES.size)
    if not head:
        return None
    if len(head) < _SIZES.size:
        raise ProtocolError("cut off inside a frame")
    text_bytes, payload_bytes = _SIZES.unpack(head)
    if text_bytes > _MAX_JSON_BYTES or payload_bytes > MAX_PAYLOAD_BYTES:
        raise ProtocolError(f"frame of {text_bytes + payload_bytes} bytes")
    text, payload = stream.read(text_bytes), stream.read(payload_bytes)
    if len(text) < text_bytes or len(payload) < payload_bytes:
        raise ProtocolError("cut off inside a frame")
    try:
        body = json.loads(text)
        kind = body.pop("kind")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise ProtocolError(f"not a message: {error}") from error
    return Message(str(kind), body, payload)
