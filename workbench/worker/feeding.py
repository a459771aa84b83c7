"""How a timed run calls ORT: `session.run`, or IO binding with buffers made beforehand."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnxruntime as ort

_ONNX_TYPES = {  # TensorProto's numbers of the element types that numpy lacks
    "bfloat16": 16,
    "float8_e4m3fn": 17,
    "float8_e4m3fnuz": 18,
    "float8_e5m2": 19,
    "float8_e5m2fnuz": 20,
    "uint4": 21,
    "int4": 22,
    "float4_e2m1fn": 23,
}
_DTYPE_OF_ORT = {  # ORT's name of an element type that numpy lacks: ml_dtypes's name
    "tensor(bfloat16)": "bfloat16",
    "tensor(float8e4m3fn)": "float8_e4m3fn",
    "tensor(float8e4m3fnuz)": "float8_e4m3fnuz",
    "tensor(float8e5m2)": "float8_e5m2",
    "tensor(float8e5m2fnuz)": "float8_e5m2fnuz",
}


class Call:
    """One feed, ready to be run again and again."""

    def __init__(self, run: Callable[[], object], outputs: Callable[[], Sequence[Any]]) -> None:
        self.run = run
        self.outputs = outputs

    def keep_outputs(self) -> None:
        """Nothing to keep: ORT makes new outputs each run."""


def needs_binding(session: ort.InferenceSession, feeds: list[dict[str, Any]]) -> bool:
    """Whether `session.run` cannot carry an element type of this model's inputs or outputs."""
    fed = (value for feed in feeds for value in feed.values())
    return any(_is_exotic(value) for value in fed) or any(
        output.type in _DTYPE_OF_ORT for output in session.get_outputs()
    )


def plain_calls(
    session: ort.InferenceSession, feeds: list[dict[str, Any]], options: ort.RunOptions | None
) -> list[Call]:
    def call(feed: dict[str, Any]) -> Call:
        def run() -> Any:
            return session.run(None, feed, options)

        return Call(run, run)

    return [call(feed) for feed in feeds]


class BoundCall(Call):
    """Inputs bound once; outputs too, once their shapes are known from a first run."""

    def __init__(
        self, session: ort.InferenceSession, feed: dict[str, Any], options: ort.RunOptions | None
    ) -> None:
        self._session = session
        self._binding = session.io_binding()
        self._device = _device(session)
        for name, value in feed.items():
            self._binding.bind_ortvalue_input(name, _to_ortvalue(value, self._device))
        self._names = [output.name for output in session.get_outputs()]
        for name in self._names:
            self._binding.bind_output(name, self._device)
        binding = self._binding

        def run() -> None:
            session.run_with_iobinding(binding, options)

        super().__init__(run, self._run_and_read)

    def keep_outputs(self) -> None:
        """Bind the tensors of the run just made, so that no later run allocates."""
        values = self._binding.get_outputs()
        if all(value.is_tensor() for value in values):
            for name, value in zip(self._names, values, strict=True):
                self._binding.bind_ortvalue_output(name, value)

    def _run_and_read(self) -> list[Any]:
        self.run()
        return [_from_ortvalue(value) for value in self._binding.get_outputs()]


def bound_calls(
    session: ort.InferenceSession, feeds: list[dict[str, Any]], options: ort.RunOptions | None
) -> list[Call]:
    return [BoundCall(session, feed, options) for feed in feeds]


def to_portable(value: Any) -> Any:
    """An output as something that `values` can write; what it cannot becomes a text that says so."""
    if value is None or isinstance(value, (np.ndarray, list, dict, str, int, float)):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    return f"({type(value).__name__}: not comparable)"


def _is_exotic(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.name in _ONNX_TYPES


def _device(session: ort.InferenceSession) -> str:
    return (
        "cuda"
        if {"CUDAExecutionProvider", "TensorrtExecutionProvider"} & set(session.get_providers())
        else "cpu"
    )


def _to_ortvalue(value: Any, device: str) -> ort.OrtValue:
    if _is_exotic(value):
        number = _ONNX_TYPES[value.dtype.name]
        bits = value.view(np.uint8 if value.dtype.itemsize == 1 else np.uint16)
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(bits, number)
    if isinstance(value, np.ndarray):
        on = "cpu" if value.dtype.kind in "OUS" else device
        return ort.OrtValue.ortvalue_from_numpy(value, on)
    raise TypeError("IO binding takes tensors only: this input is a sequence, an optional or a map")


def _from_ortvalue(value: ort.OrtValue) -> Any:
    name = _DTYPE_OF_ORT.get(value.data_type()) if value.is_tensor() else None
    if name is None:
        return value.numpy()
    import ml_dtypes

    dtype = np.dtype(getattr(ml_dtypes, name))
    count = int(np.prod(value.shape(), dtype=np.int64))
    raw = ctypes.string_at(value.data_ptr(), count * dtype.itemsize)
    return np.frombuffer(bytearray(raw), dtype=dtype).reshape(value.shape())
